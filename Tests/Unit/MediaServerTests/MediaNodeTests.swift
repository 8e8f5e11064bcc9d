import BusProtocol
import CMediaNode
import SignalingProtocol
import TestKit
import Testing

@testable import MediaServer

/// Who is in, and who is told what.
@Suite struct MediaNodeTests {
    private let served = ServedNode()

    @Test func aJoinIsAnsweredWithThePathAndTheRoster() async throws {
        let node = served.node()
        let joined = try await node.join("anna", uid: 7) { $0.flags = .audioMuted }
        #expect(joined.uid == 7 && joined.n == 1_000_001 && joined.epoch == 1)
        #expect(joined.secret.utf8.count == 32)
        #expect(joined.users == [MediaUser(uid: 7, flags: .audioMuted, age: 0)])
        let path = try #require(served.opened.first)
        #expect(path.settings.uid == 7 && path.replaced == nil)
        #expect(path.settings.allowed == UInt32(CM_MAY_HEAR))
        #expect(served.told() == [])
        served.pass(.milliseconds(250))
        let second = try await node.join("bert", uid: 8)
        #expect(
            second.users == [
                MediaUser(uid: 7, flags: .audioMuted, age: 250), MediaUser(uid: 8, flags: [], age: 0),
            ])
        #expect(served.opened[1].settings.allowed == UInt32(CM_MAY_HEAR | CM_MAY_SEND_AUDIO))
        #expect(served.opened[1].settings.channel == path.settings.channel)
        #expect(served.opened[1].settings.id != path.settings.id)
        #expect(await node.load == 0)
    }

    @Test func eachGatewayIsToldOnceOfAChange() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        try await node.join("bert", uid: 2)
        try await node.join("carl", uid: 3, gateway: 1)
        try await node.join("dora", uid: 4, gateway: 1) { $0.flags = .videoEnabled }
        let joins = [
            "gateway-1 anna: joined 2 0 n1000002", "gateway-1 anna,bert: joined 3 0 n1000003",
            "gateway-1 anna,bert: joined 4 4 n1000004", "gateway-2 carl: joined 4 4 n1000004",
        ]
        #expect(Set(served.told()) == Set(joins))
        let left = try await node.leave("anna")
        #expect(left == MediaLeft(duration: 0, bytes: 1234))
        #expect(
            Set(served.told()) == [
                "gateway-1 bert: left 1 quit n1000005", "gateway-2 carl,dora: left 1 quit n1000005",
            ])
        #expect(served.closed == [served.opened[0].settings.id])
    }

    @Test func aJoinDeliveredAgainHasTheSameAnswer() async throws {
        let node = served.node()
        let first = try await node.join("anna", uid: 1)
        #expect(try await node.join("anna", uid: 1) == first)
        #expect(served.opened.count == 1 && served.told() == [])
        // Also when it has left meanwhile: nobody joins by a repetition.
        try await node.leave("anna")
        #expect(try await node.join("anna", uid: 1) == first)
        #expect(await node.participants.isEmpty)
        // Those who are in do not join twice, however late.
        try await node.join("bert", uid: 2)
        served.pass(RecentJoins.kept)
        #expect(await node.refusal("bert", uid: 2) == .refused)
    }

    @Test func aJoinDeliveredAgainWaitsForTheFirst() async throws {
        let node = served.node()
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        served.onOpen { for await _ in gate {} }
        async let first = node.join("anna", uid: 1)
        try await waitUntil("the path is being opened") { served.opened.isEmpty ? "not asked for" : nil }
        async let again = node.join("anna", uid: 1)
        // Commands overtake each other: who has left before its join was answered does not stay.
        async let left = node.leave("anna")
        opening.finish()
        #expect(try await first == again)
        _ = try await left
        #expect(served.opened.count == 1 && served.closed.count == 1)
        #expect(await node.participants.isEmpty)
    }

    @Test func aUserWhoJoinsElsewhereReplacesItself() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        try await node.join("bert", uid: 2, gateway: 1)
        _ = served.told()
        try await node.join("again", uid: 1, gateway: 1)
        #expect(
            served.told() == [
                "gateway-1 anna last: gone replaced", "gateway-2 bert: left 1 replaced n1000003",
                "gateway-2 bert: joined 1 0 n1000004",
            ])
        #expect(served.opened[2].replaced == served.opened[0].settings.id)
        #expect(await node.refusalOfLeaving("anna") == .unknownParticipant)
        // The same call goes on without an event, but the participant before is over.
        try await node.join("third", uid: 1) { $0.call = "call of again" }
        #expect(served.told() == ["gateway-2 again last: gone replaced"])
        #expect(await node.participants.count == 2)
    }

    @Test func zeroIsAnyFreeUser() async throws {
        let node = served.node()
        let uids = [try await node.join("anna").uid, try await node.join("bert").uid]
        #expect(uids[0] != 0 && uids[1] != 0 && uids[0] != uids[1])
    }

    @Test func boundsAreKept() async throws {
        let node = served.node {
            $0.participants = 3
            $0.members = 2
            $0.channels = 2
            $0.joinsPerSecond = 7
        }
        let names = try ["a", "b", "c"].map { MediaChannelKey(app: .test, name: try MediaChannelName($0)) }
        try await node.join("anna", uid: 1, channel: names[0])
        try await node.join("bert", uid: 2, channel: names[0])
        #expect(await node.refusal("carl", uid: 3, channel: names[0]) == .channelFull)
        try await node.join("dora", uid: 4, channel: names[1])
        #expect(await node.refusal("emil", channel: names[2]) == .refused)
        #expect(await node.refusal("fred", channel: names[1]) == .refused)
        #expect(await node.load == 1000)
        // A member that comes again takes no further place.
        #expect(await node.refusal("again", uid: 4, channel: names[1]) == nil)
        #expect(await node.refusal("gina", uid: 9, channel: names[1]) == .rateLimited)
        served.pass(.seconds(1))
        #expect(await node.refusal("hans", uid: 9, channel: names[1]) == .refused)
        #expect(await node.channels.count == 2)
    }

    @Test func offersFromWhichNothingCanComeAreRefused() async throws {
        let node = served.node()
        for (offer, refusal) in [
            (MediaTransportOffer.web(offer: "v=1"), MediaRefusal.badOffer),
            (.engine(publicKey: "AAAA", codecs: ["opus"]), .invalidArguments),
            // A key of low order.
            (.engine(publicKey: Base64.text([UInt8](repeating: 0, count: 32)), codecs: ["opus"]), .invalidArguments),
            (.engine(publicKey: "", codecs: ["PCMU"]), .unsupportedMedia),
        ] {
            #expect(await node.refusal("pid of \(refusal) \(offer)", uid: 1) { $0.transport = offer } == refusal)
        }
        #expect(served.opened.isEmpty)
        #expect(await node.channels.isEmpty)
        served.loseClock()
        #expect(await node.refusal("anna", uid: 1) == .nodeUnreachable)
    }

    @Test func whoHasNoPathIsTakenBack() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        served.fail(12)
        #expect(await node.refusal("bert", uid: 2) == .refused)
        #expect(
            served.told() == ["gateway-1 anna: joined 2 0 n1000002", "gateway-1 anna: left 2 closed n1000003"])
        #expect(await node.participants.count == 1)
    }

    @Test func whoSaysNothingIsDropped() async throws {
        let node = served.node()
        for (uid, pid) in ["anna", "bert", "carl"].enumerated() { try await node.join(pid, uid: UInt32(uid + 1)) }
        _ = served.told()
        await node.handle(MediaTransportEvent(kind: .dropped, id: served.opened[0].settings.id))
        #expect(
            served.told() == ["gateway-1 bert,carl: left 1 dropped n1000004", "gateway-1 anna last: gone closed"])
        await node.handle(MediaTransportEvent(kind: .limit, id: served.opened[1].settings.id))
        #expect(served.told() == ["gateway-1 carl: left 2 dropped n1000005", "gateway-1 bert last: gone limit"])
        #expect(served.closed == served.opened.prefix(2).map(\.settings.id))
        // Told once more, when it has left already.
        await node.handle(MediaTransportEvent(kind: .dropped, id: served.opened[0].settings.id))
        #expect(served.told() == [])
    }

    @Test func aChannelWithoutMembersIsGivenUp() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        try await node.leave("anna")
        #expect(await node.channels.isEmpty)
        #expect(await node.refusalOfLeaving("anna") == .unknownParticipant)
        let other = MediaChannelKey(app: .test, name: try MediaChannelName("other"))
        try await node.join("bert", uid: 2, channel: other)
        #expect(await node.refusalOfLeaving("bert") == .unknownParticipant)
    }

    @Test func aNodeThatEndsTellsEverybodyAndTakesNobody() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        try await node.join("bert", uid: 2)
        try await node.join("carl", uid: 3, gateway: 1)
        _ = served.told()
        await node.startDraining()
        #expect(await node.refusal("dora", uid: 4) == .draining)
        #expect(await node.participants.count == 3)
        await node.closeAll()
        #expect(
            Set(served.told()) == ["gateway-1 anna,bert last: gone closed", "gateway-2 carl last: gone closed"])
        #expect(Set(served.closed) == Set(served.opened.map(\.settings.id)))
        #expect(await node.participants.isEmpty)
        #expect(await node.channels.isEmpty)
    }
}

extension MediaNode {
    fileprivate func refusalOfLeaving(_ pid: String) async -> MediaRefusal? {
        do throws(MediaRefusal) {
            try await leave(pid)
            return nil
        } catch {
            return error
        }
    }
}
