import BusProtocol
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Messages to users whose sessions are at the gateway that sends them.
@Suite struct OwnMailTests {
    private typealias Message = MessageStoreScene.Message

    /// What the scene's batch has passed on.
    private static func listen(_ scene: MessageStoreScene) async throws -> Recording<OwnMail> {
        let passedOn = Recording<OwnMail>()
        try await scene.redis.eventLoop.submit { scene.batch.value.onOwn = { passedOn.add($0) } }.get()
        return passedOn
    }

    @Test(arguments: [false, true])
    func theReplySaysWhatIsNotPublished(isTold: Bool) async throws {
        try await MessageStoreScene.run { scene in
            let passedOn = try await Self.listen(scene)
            let (heard, subscriber) = try await scene.listen(KeySpace.topic(scene.gateway))
            let (elsewhere, other) = try await scene.listen(KeySpace.topic(GatewayID("gateway-2")))
            try await scene.openSession("s1")
            let absent = UserKey(app: scene.user.app, account: try Account("absent"))
            let remote = UserKey(app: scene.user.app, account: try Account("remote"))
            try await scene.open("s2", of: remote, at: "gateway-2")
            var messages = [
                Message(to: scene.user, line: "one"), Message(to: absent, line: "absent"),
                Message(to: remote, line: "remote"), Message(to: scene.user, line: "two\n é"),
            ]
            if isTold {
                for index in messages.indices { messages[index].told = MessageEvents(webhook: .withText, stream: nil) }
            }
            let versions = try await scene.sendTogether(messages).map { try $0.get() }
            let entries = try await scene.read().entries
            #expect(entries.map(\.line) == ["one", "two\n é"])
            try await passedOn.wait(for: 1, "own mail")
            let mail = try #require(passedOn.all.first)
            #expect(
                mail.deliveries == [
                    MailDelivery(session: SessionID("s1"), previous: 0, entry: entries[0]),
                    MailDelivery(session: SessionID("s1"), previous: versions[0], entry: entries[1]),
                ])
            #expect(mail.latest.isEmpty && mail.doubtful.isEmpty)
            try await elsewhere.wait(for: 1, "publication")
            // A service's message is published, after all that was published before.
            try await scene.send("from a service")
            try await heard.wait(for: 1, "publication")
            let published = try #require(heard.all.first)
            let last = try #require(try await scene.read().entries.last)
            #expect(
                try GatewayEvent(payload: published.readableBytesView)
                    == .mail([MailDelivery(session: SessionID("s1"), previous: versions[3], entry: last)]))
            await subscriber.close()
            await other.close()
        }
    }

    /// The first one may have been stored by a call whose reply was lost.
    @Test(arguments: [false, true])
    func aRepetitionTellsTheLastVersion(isTold: Bool) async throws {
        try await MessageStoreScene.run { scene in
            try await scene.openSession("s1")
            let remote = UserKey(app: scene.user.app, account: try Account("remote"))
            try await scene.open("s2", of: remote, at: "gateway-2")
            var messages = [
                Message(to: scene.user, line: "one", command: CommandID("c1")),
                Message(to: remote, line: "two", command: CommandID("c2")),
            ]
            if isTold {
                for index in messages.indices {
                    messages[index].told = MessageEvents(webhook: .withoutText, stream: nil)
                }
            }
            let version = try await scene.sendTogether(messages)[0].get()
            let passedOn = try await Self.listen(scene)
            for result in await scene.sendTogether(messages) { _ = try result.get() }
            try await passedOn.wait(for: 1, "own mail")
            let mail = try #require(passedOn.all.first)
            #expect(mail.latest.map(\.session) == [SessionID("s1")] && mail.latest.map(\.version) == [version])
            #expect(mail.deliveries.isEmpty && mail.doubtful.isEmpty)
        }
    }

    @Test func aCallOfUnknownOutcomeLeavesDoubt() async throws {
        try await MessageStoreScene.run(appendOnly: true) { scene in
            try await scene.openSession("s1")
            let passedOn = try await Self.listen(scene)
            let other = UserKey(app: scene.user.app, account: try Account("other"))
            // The commands are written, and Redis dies before it answers.
            await scene.redis.server.freeze(true)
            let begun = Recording<Bool>()
            let outcomes = Task {
                begun.add(true)
                return await scene.sendTogether([
                    Message(to: scene.user, line: "one"), Message(to: other, line: "two"),
                ])
            }
            try await begun.wait(for: 1, "beginning")
            for _ in 0..<10 { try await scene.redis.eventLoop.submit {}.get() }
            try await scene.redis.server.kill()
            try await scene.redis.server.start()
            for result in await outcomes.value { #expect(throws: SignalingError.timeout()) { try result.get() } }
            try await passedOn.wait(for: 1, "own mail")
            #expect(passedOn.all.first?.doubtful == [scene.user, other])
            #expect(passedOn.all.first?.deliveries == [])
        }
    }

    @Test func aCallThatWasNotSentLeavesNoDoubt() async throws {
        try await MessageStoreScene.run { scene in
            let passedOn = try await Self.listen(scene)
            await scene.redis.connection.close()
            let results = await scene.sendTogether([Message(to: scene.user, line: "one")])
            #expect(throws: SignalingError.self) { try results[0].get() }
            #expect(passedOn.all.isEmpty)
        }
    }

    @Test func aRefusedMessageLeavesNoDoubt() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.openSession("s1")
            let passedOn = try await Self.listen(scene)
            let results = await scene.sendTogether([
                Message(to: scene.user, line: "one", bound: 1), Message(to: scene.user, line: "two", bound: 1),
            ])
            #expect(throws: SignalingError.self) { try results[1].get() }
            try await passedOn.wait(for: 1, "own mail")
            #expect(passedOn.all.first?.deliveries.map(\.entry.line) == ["one"])
            #expect(passedOn.all.first?.doubtful == [])
        }
    }
}
