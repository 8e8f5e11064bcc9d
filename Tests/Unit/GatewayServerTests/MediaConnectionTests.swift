import BusProtocol
import ClusterBus
import GatewayLogic
import NIOCore
import Pacing
import RedisClient
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayServer

/// Connections that are opened for media, at a gateway without Redis. The test answers for presence and the media node.
@Suite struct MediaConnectionTests {
    private static let hello = #"["media_hello",{"vid":"app"}]"#
    private static let node = MediaNodeID("media-1-a")
    private static let room = "room"

    /// A call that joins a channel.
    private static func join(_ id: Int, line: String, uid: Int = 7) -> String {
        #"["call2",["media.join",\#(id),{"line":"\#(line)","channel":"room","uid":\#(uid),"kind":"web","offer":"v=0","#
            + #""call":"00112233445566778899aabbccddeeff"}]]"#
    }

    private static func call(_ id: Int, _ function: String, line: String, _ more: String) -> String {
        #"["call2",["media.\#(function)",\#(id),{"line":"\#(line)","channel":"room",\#(more)}]]"#
    }

    /// A client whose hello is answered.
    private func greeted() async throws -> (client: EmbeddedClient, line: String) {
        let client = try await EmbeddedClient()
        try await client.says(Self.hello)
        try await client.appIsKnown()
        let line = try await client.line()
        #expect(try await client.told() == [#"["media_hello_ret",["","{\"result\":\"ok\",\"line\":\"\#(line)\"}"]]"#])
        return (client, line)
    }

    /// The node is known to be alive, and the list need not be read for an hour.
    private func nodeIsListed(_ client: EmbeddedClient) async throws {
        try await client.onLoop { shard in
            shard.mediaNodes.take([(Self.node, 0, false)], now: .now + LocalTime.Span(.seconds(3600)))
        }
    }

    /// The participants that the shard knows.
    private func participants(_ client: EmbeddedClient) async throws -> [ParticipantID] {
        try await client.onLoop { shard in Array(shard.participants.keys) }
    }

    /// Lets the node answer the command of this number, which was a join.
    private func joined(_ client: EmbeddedClient, _ number: Int, n: Int64 = 5) async throws {
        try await client.answer(number) {
            MediaJoined(uid: 7, secret: "s", epoch: 1, n: n, users: [], transport: .web(answer: "v=0")).write(to: &$0)
        }
    }

    private func publish(
        _ client: EmbeddedClient, _ participant: ParticipantID, _ event: MediaEvent, isLast: Bool = false
    ) async throws {
        let publication = MediaPublication(
            participants: [participant], isLast: isLast, channel: try MediaChannelName(Self.room), event: event)
        try await client.onLoop { shard in shard.tell(publication) }
    }

    private func failed(_ id: Int, _ refusal: MediaRefusal) -> String {
        String(decoding: ServerFrame.mediaFailed(id: String(id), refusal), as: UTF8.self)
    }

    private func event(_ event: MediaEvent, _ participant: ParticipantID) throws -> String {
        String(
            decoding: ServerFrame.mediaEvent(event, in: try MediaChannelName(Self.room), for: participant),
            as: UTF8.self)
    }

    @Test func anUnknownAppIsToldAndClosed() async throws {
        let client = try await EmbeddedClient()
        try await client.says(#"["media_hello",{"vid":""}]"#)
        #expect(
            try await client.told() == [
                String(decoding: ServerFrame.mediaHelloFailed(.unknownApp), as: UTF8.self), "close 1000",
            ])
    }

    @Test func aSocketIsForMediaOrForASession() async throws {
        let (client, line) = try await greeted()
        try await client.says(EmbeddedClient.login, EmbeddedClient.lineLogin, Self.hello)
        let told = try await client.told()
        #expect(told.count == 3 && client.isOpen)
        #expect(told[0].hasPrefix(#"["login_ret",["already_logged_in""#))
        #expect(told[1].hasPrefix(#"["line_login_ret",["already_logged_in""#))
        #expect(told[2].hasPrefix(#"["media_hello_ret",["refused""#))
        // Other calls need a session.
        try await client.says(#"["call2",["user_getmsg",1,{"line":"\#(line)"}]]"#)
        #expect(try await client.told()[0].contains("not_logged_in"))
    }

    @Test func aSessionIsNoSocketForMediaAloneButMakesMediaCalls() async throws {
        let client = try await EmbeddedClient()
        try await client.says(EmbeddedClient.login)
        try await client.appIsKnown()
        try await client.sessionIsOpened()
        _ = try await client.told()
        try await client.says(Self.hello)
        #expect(try await client.told()[0].hasPrefix(#"["media_hello_ret",["refused""#))
        try await nodeIsListed(client)
        try await client.says(Self.join(9, line: try await client.line()))
        #expect(try await participants(client).count == 1)
    }

    @Test func callsBeforeAHelloAndWithoutItsLineAreRefused() async throws {
        let fresh = try await EmbeddedClient()
        try await fresh.says(Self.join(1, line: "x"))
        #expect(try await fresh.told()[0].contains("not_logged_in"))
        let (client, _) = try await greeted()
        try await client.says(Self.join(1, line: "x"))
        #expect(try await client.told()[0].contains("bad_line"))
    }

    @Test func aJoinIsAnsweredBeforeWhatHappenedMeanwhile() async throws {
        let (client, line) = try await greeted()
        try await nodeIsListed(client)
        try await client.says(Self.join(1, line: line))
        #expect(try await client.told() == [])
        let participant = try #require(try await participants(client).first)
        try await publish(client, participant, .joined(uid: 8, flags: [], n: 6))
        #expect(try await client.told() == [])
        try await joined(client, 2)
        let told = try await client.told()
        #expect(told.count == 2 && told[0].contains(#"\"pid\":\"\#(participant)\""#))
        #expect(told[1] == (try event(.joined(uid: 8, flags: [], n: 6), participant)))
        try await publish(client, participant, .left(uid: 8, reason: .quit, n: 7))
        #expect(try await client.told() == [try event(.left(uid: 8, reason: .quit, n: 7), participant)])
        // The last event ends the participant here too.
        try await publish(client, participant, .gone(.closed), isLast: true)
        #expect(try await client.told() == [try event(.gone(.closed), participant)])
        #expect(try await participants(client) == [])
        try await client.says(Self.call(2, "mute", line: line, #""pid":"\#(participant)","audio":1"#))
        #expect(try await client.told() == [failed(2, .unknownParticipant)])
    }

    @Test func withoutANodeNobodyJoins() async throws {
        let (client, line) = try await greeted()
        try await client.onLoop { shard in shard.mediaNodes.take([], now: .now + LocalTime.Span(.seconds(3600))) }
        try await client.says(Self.join(1, line: line))
        #expect(try await client.told() == [failed(1, .noNode)])
        try await nodeIsListed(client)
        try await client.says(Self.join(2, line: line))
        try await client.refuse(2)
        #expect(try await client.told() == [failed(2, .noNode)])
        #expect(try await participants(client) == [])
        // The node may have let it in: it is asked to end the participant.
        #expect(try await client.onLoop { $0.sender.pendingCount } == 1)
    }

    @Test func aParticipantIsBoundToOneConnection() async throws {
        let (client, line) = try await greeted()
        try await nodeIsListed(client)
        let foreign = #""pid":"p1","secret":"s""#
        try await client.says(Self.call(1, "resume", line: line, foreign))
        try await client.answer(2) { MediaResumed(keyUID: 0, n: 9, users: []).write(to: &$0) }
        #expect(try await client.told()[0].contains(#"\"n\":9"#))
        #expect(try await participants(client) == [ParticipantID("p1")])
        // A call that names another channel changes nothing.
        try await client.says(Self.call(2, "resume", line: line, foreign).replacing("room", with: "hall"))
        #expect(try await client.told() == [failed(2, .unknownParticipant)])
        #expect(try await participants(client) == [ParticipantID("p1")])
        try await client.isLost()
        #expect(try await participants(client) == [])
    }

    @Test func joinsHaveARate() async throws {
        let (client, line) = try await greeted()
        try await nodeIsListed(client)
        for id in 1...MediaSocket.joins + 1 { try await client.says(Self.join(id, line: line)) }
        #expect(try await client.told() == [failed(MediaSocket.joins + 1, .rateLimited)])
    }
}
