import BusProtocol
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Messages of which webhooks and streams of events tell: what is in the stream of Redis when their senders are told
/// that they are sent.
@Suite struct MessageMirrorTests {
    private typealias Message = MessageStoreScene.Message

    private static let stream = RedisArgument.string(KeySpace.mirror(.messages, in: .whole))
    private static let plain = MessageEvents(webhook: .withoutText, stream: nil)
    private static let withText = MessageEvents(webhook: .withText, stream: nil)

    private static func rows(_ scene: MessageStoreScene) async throws -> [MessageMirrorRow] {
        let entries = try await scene.command("XRANGE", stream, "-", "+").array ?? []
        return try entries.map { entry in
            let fields = try #require(entry.array?[1].array)
            let packed = try #require(fields[1].buffer)
            return try MessageMirrorRow(from: FieldReader(encoded: packed.readableBytesView))
        }
    }

    /// Says something in the channel, and returns what became of it.
    private static func say(
        _ body: String, _ events: MessageEvents?, command: CommandID? = nil, force: Bool = false,
        in scene: MessageStoreScene
    ) async throws -> ChannelMessageSent {
        let result: Result<ChannelMessageSent, SignalingError> = await withCheckedContinuation { done in
            scene.redis.eventLoop.execute {
                var message = ChannelMessage(
                    channel: scene.channel, account: scene.sender.account, uid: 7, body: body)
                message.fence = SessionFence(session: SessionID("s1"), gateway: scene.gateway)
                message.force = force
                message.command = command
                message.told = events
                scene.store.sendToChannel(message) { done.resume(returning: $0) }
            }
        }
        return try result.get()
    }

    @Test func messagesToUsersAreThereInTheirOrder() async throws {
        try await MessageStoreScene.run { scene in
            let absent = UserKey(app: scene.user.app, account: try Account("absent"))
            try await scene.openSession("s1")
            let versions = await scene.sendTogether(
                [
                    Message(to: scene.user, line: "first", told: Self.plain), Message(to: scene.user, line: "quiet"),
                    Message(to: absent, line: "second", told: Self.withText),
                    Message(to: scene.user, line: "refused", bound: 0, told: Self.plain),
                    Message(to: scene.user, line: "third", told: Self.plain),
                ]
            ).map { try? $0.get() }
            #expect(versions[3] == nil && versions.compactMap(\.self).count == 4)
            let rows = try await Self.rows(scene)
            #expect(
                rows.map(\.message) == [
                    WebhookMessage(
                        from: scene.sender.account, to: .user(scene.user.account, isOnline: true),
                        number: versions[0] ?? 0, size: 5, text: nil),
                    WebhookMessage(
                        from: scene.sender.account, to: .user(absent.account, isOnline: false),
                        number: versions[2] ?? 0, size: 6, text: "second"),
                    WebhookMessage(
                        from: scene.sender.account, to: .user(scene.user.account, isOnline: true),
                        number: versions[4] ?? 0, size: 5, text: nil),
                ])
            #expect(Set(rows.map(\.app)) == [scene.user.app])
            #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.sent < $1.sent })
            let now = try #require(try await scene.command("TIME").time).milliseconds
            #expect(rows.allSatisfy { abs($0.sent / 1000 - now) < 60_000 })
        }
    }

    @Test func aRepetitionIsTheSameEvent() async throws {
        try await MessageStoreScene.run { scene in
            let message = Message(to: scene.user, line: "once", command: CommandID("c1"), told: Self.plain)
            let first = try await scene.sendTogether([message])[0].get()
            let other = Message(to: scene.user, line: "another", command: CommandID("c2"), told: Self.plain)
            let again = await scene.sendTogether([message, other])
            #expect(try again[0].get() == first)
            let rows = try await Self.rows(scene)
            #expect(rows.count == 3 && rows[0] == rows[1] && rows[2].message.number == first + 1)
            #expect(try await scene.lines() == ["once", "another"])
            _ = try await scene.admit(scene.sender.account)
            let said = try await Self.say("once", Self.plain, command: CommandID("c1"), in: scene)
            #expect(try await Self.say("once", Self.plain, command: CommandID("c1"), in: scene) == said)
            let channels = try await Self.rows(scene).dropFirst(3)
            #expect(channels.count == 2 && channels[3] == channels[4])
        }
    }

    /// The setting is new: the gateway that sent the message did not know it.
    @Test func aRepetitionOfOneThatWasNotToldIsNotTold() async throws {
        try await MessageStoreScene.run { scene in
            var message = Message(to: scene.user, line: "once", command: CommandID("c1"))
            _ = try await scene.sendTogether([message])[0].get()
            message.told = Self.plain
            #expect(try await scene.sendTogether([message])[0].get() == 0)
            #expect(try await Self.rows(scene).isEmpty)
        }
    }

    @Test func messagesToChannels() async throws {
        try await MessageStoreScene.run { scene in
            // Nobody is there, so nobody gets it.
            #expect(try await Self.say("nobody", Self.plain, force: true, in: scene).id == 0)
            try await scene.admit(scene.sender.account)
            _ = try await Self.say("quiet", nil, in: scene)
            let said = try await Self.say("the text", Self.withText, in: scene)
            let told = WebhookMessage(
                from: scene.sender.account, to: .channel(scene.channel.name), number: said.id, size: 8,
                text: "the text")
            #expect(try await Self.rows(scene) == [MessageMirrorRow(told, in: scene.channel.app, sent: said.id)])
        }
    }

    @Test func whatStreamsTell() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.admit(scene.sender.account)
            // The webhook alone has the text, then the stream alone.
            for (webhook, stream) in [(MessageDetail?.some(.withText), MessageDetail.withoutText), (nil, .withText)] {
                let events = MessageEvents(webhook: webhook, stream: stream)
                try await scene.openSession("s1")
                _ = try await scene.sendTogether([Message(to: scene.user, line: "a text", told: events)])[0].get()
                _ = try await Self.say("a text", events, in: scene)
                let rows = try await Self.rows(scene).suffix(2)
                #expect(rows.map(\.stream) == [stream, stream])
                let told = rows.compactMap { $0.streamedEvent?.streamed.contains(#""text":"a text""#) }
                #expect(told == Array(repeating: stream == .withText, count: 2))
                #expect(rows.allSatisfy { $0.message.text == "a text" })
            }
        }
    }

    /// It is sent; but whoever is told so relies on the event.
    @Test func withoutAnEventTheSenderIsNotToldOfSuccess() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.command("SET", Self.stream, "in the way")
            try await scene.admit(scene.sender.account)
            let message = Message(to: scene.user, line: "once", command: CommandID("c1"), told: Self.plain)
            let results = await scene.sendTogether([message])
            #expect(try await refusal { try results[0].get() }.hasSuffix("timeout"))
            #expect(try await refusal { try await Self.say("x", Self.plain, in: scene) }.hasSuffix("timeout"))
            try await scene.command("DEL", Self.stream)
            #expect(try await scene.sendTogether([message])[0].get() > 0)
            #expect(try await Self.rows(scene).count == 1)
            #expect(try await scene.lines() == ["once"])
        }
    }

    @Test func theStreamIsBoundedAndSaysWhatIsLost() async throws {
        try await MessageStoreScene.run { scene in
            let bound = 200
            var lost: Int64 = 0
            for number in 0..<5 {
                let values = (0..<100).map { RedisArgument.string("\(number) \($0)") }
                let command = RedisCommand.function(
                    "mirror_append", keys: [KeySpace.mirror(.messages, in: .whole)],
                    arguments: [.int(bound), "r"] + values)
                lost += try await scene.redis.connection.execute(command).int ?? 0
            }
            let kept = try await scene.command("XLEN", Self.stream).int ?? 0
            #expect(kept + lost == 500)
            // Redis removes whole nodes of the stream only.
            #expect((200...300).contains(kept))
        }
    }
}
