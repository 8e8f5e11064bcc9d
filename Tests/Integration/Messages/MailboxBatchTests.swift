import BusProtocol
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@Suite struct MailboxBatchTests {
    private typealias Message = MessageStoreScene.Message

    private static func calls(of function: String, in scene: MessageStoreScene) async throws -> Int {
        let statistics = try #require(try await scene.command("INFO", "commandstats").string)
        let line = statistics.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_\(function):calls=") }
        return line.flatMap { Int($0.split(separator: "=")[1].prefix { $0.isNumber }) } ?? 0
    }

    @Test func messagesOfOneTurnGoTogether() async throws {
        try await MessageStoreScene.run { scene in
            let (heard, subscriber) = try await scene.listen(KeySpace.topic(scene.gateway))
            try await scene.openSession("s1")
            let other = UserKey(app: scene.user.app, account: try Account("other"))
            let before = try await Self.calls(of: "fcall", in: scene)
            let versions = try await scene.sendTogether([
                Message(to: scene.user, line: "one"), Message(to: other, line: "absent"),
                Message(to: scene.user, line: "two\n é"),
            ]).map { try $0.get() }
            #expect(try await Self.calls(of: "fcall", in: scene) == before + 1)
            #expect(versions.count == 3 && versions[2] == versions[0] + 1)
            let entries = try await scene.read().entries
            #expect(entries.map(\.line) == ["one", "two\n é"] && entries.map(\.version) == [versions[0], versions[2]])
            try await heard.wait(for: 1, "publication")
            let published = try #require(heard.all.first)
            #expect(
                try GatewayEvent(payload: published.readableBytesView)
                    == .mail([
                        MailDelivery(session: SessionID("s1"), previous: 0, entry: entries[0]),
                        MailDelivery(session: SessionID("s1"), previous: versions[0], entry: entries[1]),
                    ]))
            await subscriber.close()
        }
    }

    @Test func moreThanOneCallTakesAreSentInTheirOrder() async throws {
        try await MessageStoreScene.run { scene in
            let count = 2 * MailboxBatch.bound + 1
            let before = try await Self.calls(of: "fcall", in: scene)
            let results = await scene.sendTogether(
                (0..<count).map { Message(to: scene.user, line: "\($0)", bound: 1000) })
            #expect(try await Self.calls(of: "fcall", in: scene) == before + 3)
            let versions = try results.map { try $0.get() }
            #expect(versions == Array(versions[0]..<versions[0] + Int64(count)))
            #expect(try await scene.read(limit: count).entries.map(\.line) == (0..<count).map(String.init))
        }
    }

    /// What messages of a call have in common is said once, so those on other terms go in calls of their own.
    @Test func messagesOnOtherTermsKeepTheirOrder() async throws {
        try await MessageStoreScene.run { scene in
            let before = try await Self.calls(of: "fcall", in: scene)
            let results = await scene.sendTogether([
                Message(to: scene.user, line: "1"), Message(to: scene.user, line: "2", seconds: 600),
                Message(to: scene.user, line: "3", seconds: 600),
                Message(to: scene.user, line: "4", command: CommandID("c")),
                Message(to: scene.user, line: "5", bound: 4),
            ])
            #expect(try await Self.calls(of: "fcall", in: scene) == before + 4)
            guard case .failure(let error) = results[4] else { throw TestFailure("not refused: \(results)") }
            #expect(error.reason == .mailboxFull)
            #expect(try await scene.lines() == ["1", "2", "3", "4"])
            let mailbox = RedisArgument.string(KeySpace.tag(scene.user) + UserKeys.mailboxSuffix)
            let entries = try await scene.command("XRANGE", mailbox, "-", "+").array ?? []
            let expiries = entries.compactMap { $0.array?[1].array?[3].string.flatMap(Int64.init) }
            let life = expiries.map { ($0 - (expiries[0] - 60_000)) / 1000 }
            #expect(life == [60, 600, 600, 60])
        }
    }

    @Test func aRefusedMessageHarmsNoOther() async throws {
        try await MessageStoreScene.run { scene in
            let other = UserKey(app: scene.user.app, account: try Account("other"))
            let command = CommandID("c1")
            let results = await scene.sendTogether([
                Message(to: scene.user, line: "1", bound: 1),
                Message(to: scene.user, line: "2", bound: 1, command: command),
                Message(to: other, line: "3"),
            ])
            guard results.count == 3, case .failure(let error) = results[1] else {
                throw TestFailure("not refused: \(results)")
            }
            #expect(error.code == .messageOther && error.reason == .mailboxFull)
            #expect(try results[0].get() > 0 && results[2].get() > 0)
            #expect(try await scene.lines() == ["1"])
            // A refused message may be sent again with the same command id.
            let again = await scene.sendTogether([Message(to: scene.user, line: "2", bound: 2, command: command)])
            #expect(try again[0].get() == results[0].get() + 1)
        }
    }

    @Test func aRepeatedCommandAddsOneEntry() async throws {
        try await MessageStoreScene.run { scene in
            let message = Message(to: scene.user, line: "one", command: CommandID("c1"))
            let results = try await scene.sendTogether([message, message]).map { try $0.get() }
            #expect(results[0] > 0 && results[1] == 0)
            #expect(try await scene.sendTogether([message])[0].get() == 0)
            #expect(try await scene.lines() == ["one"])
        }
    }

    @Test func forgottenEntriesAreCutOffNowAndThen() async throws {
        try await MessageStoreScene.run { scene in
            let results = await scene.sendTogether((0..<40).map { Message(to: scene.user, line: "\($0)") })
            let first = try results[0].get()
            for offset in Int64(0)..<40 { #expect(try await scene.clear(through: first + offset) == first + offset) }
            #expect(try await scene.lines().isEmpty)
            let left = try await scene.command("XLEN", .string(KeySpace.tag(scene.user) + ":mbox")).int
            #expect(try #require(left) < 16)
            // Cleared entries that are still in the stream do not count towards the bound,
            // even after an entry was removed.
            for _ in 0..<2 { _ = await scene.sendTogether([Message(to: scene.user, line: "new", bound: 2)]) }
            try await scene.store.removeMail(scene.user, version: first + 40)
            let other = UserKey(app: scene.user.app, account: try Account("another-sender"))
            try await scene.open("s2", of: other)
            func send(_ line: String) async -> [Result<Int64, SignalingError>] {
                await scene.sendTogether([
                    Message(to: scene.user, from: other, session: SessionID("s2"), line: line, bound: 2)
                ])
            }
            let third = await send("third")
            #expect(try third[0].get() == first + 42)
            let fourth = await send("fourth")
            #expect(throws: SignalingError.self) { try fourth[0].get() }
        }
    }

    @Test func aForgottenInvitationIsNotKnownToALaterSession() async throws {
        try await MessageStoreScene.run { scene in
            let invited = try await scene.send("invite", .invitation(call: "c")).version
            try await scene.clear(through: invited)
            try await scene.send("and more")
            let last = try await scene.send("and more").version
            // The second clearing adds no entry to the stream.
            try await scene.clear(through: last)
            try await scene.openSession("s2", openver: last)
            let ended = UserMessage.Condition.callEvent(
                type: "voip_invite_bye", call: "c", knownBy: nil, invitedAt: last)
            #expect(try await scene.send("bye", ended).version == 0)
        }
    }

    @Test func whatIsKnownByItsIDIsSentAgainWhenRedisBreaks() async throws {
        try await MessageStoreScene.run(appendOnly: true) { scene in
            try await scene.send("first")
            // Redis is frozen and then stopped: the commands were written but never
            // executed, which the sender cannot know.
            await scene.redis.server.freeze(true)
            let begun = Recording<Bool>()
            let outcomes = Task {
                begun.add(true)
                return await scene.sendTogether([
                    Message(to: scene.user, line: "one", command: CommandID("c1")),
                    Message(to: scene.user, line: "old client"),
                    Message(to: scene.user, line: "two", command: CommandID("c2")),
                ])
            }
            try await begun.wait(for: 1, "beginning")
            for _ in 0..<10 { try await scene.redis.eventLoop.submit {}.get() }
            try await scene.redis.server.kill()
            try await scene.redis.server.start()
            let results = await outcomes.value
            #expect(throws: Never.self) { try results[0].get() }
            // Redis may have taken it.
            #expect(throws: SignalingError.timeout()) { try results[1].get() }
            #expect(throws: Never.self) { try results[2].get() }
            #expect(try await scene.read().entries.map(\.line).suffix(2) == ["one", "two"])
        }
    }

    @Test func withoutRedisEveryMessageFails() async throws {
        try await MessageStoreScene.run { scene in
            await scene.redis.connection.close()
            let results = await scene.sendTogether([
                Message(to: scene.user, line: "one"), Message(to: scene.user, line: "two"),
            ])
            #expect(results.count == 2)
            for result in results { #expect(throws: SignalingError.unavailable("redis")) { try result.get() } }
        }
    }
}
