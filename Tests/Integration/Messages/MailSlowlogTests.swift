import BusProtocol
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// No function of mail or of logs blocks Redis for long, however much is waiting.
@Suite struct MailSlowlogTests {
    private typealias Message = MessageStoreScene.Message

    /// Has several senders fill the user's mailbox.
    private func fill(_ scene: MessageStoreScene, length: Int) async throws {
        let line = String(repeating: "x", count: length)
        for name in ["first", "second", "third"] {
            let sender = UserKey(app: scene.user.app, account: try Account(name))
            try await scene.open(name, of: sender)
            let message = Message(
                to: scene.user, from: sender, session: SessionID(name), line: line, bound: Limits.mailboxEntries)
            var isFull = false
            while !isFull {
                let results = await scene.sendTogether(Array(repeating: message, count: 512))
                isFull = results.contains { (try? $0.get()) == nil }
            }
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: [100, 1550, 8192])
    func aFullMailbox(length: Int) async throws {
        try await MessageStoreScene.run { scene in
            let times = try await FunctionTimes(scene.redis.connection)
            try await scene.openSession("s1")
            try await fill(scene, length: length)
            let page = try await scene.read(limit: 512, fresh: true)
            try #require(page.more)
            try await times.expectShort("a login's first read") { _ = try await scene.read(limit: 512, fresh: true) }
            try await times.expectShort("a later read") {
                _ = try await scene.read(after: page.highest - 1000, limit: 512)
            }
            try await times.expectShort("a message to a full mailbox") {
                _ = await scene.sendTogether([
                    Message(to: scene.user, line: String(repeating: "x", count: 8192), bound: Limits.mailboxEntries)
                ])
            }
            try await times.expectShort("most of it forgotten at once") {
                try await scene.clear(through: page.highest - 1)
            }
            try await times.expectShort("all of it forgotten at once") { try await scene.clear(through: page.highest) }
        }
    }

    @Test func aFullLog() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let body = String(repeating: "x", count: Limits.messageBytes)
            let first = try await scene.say(body, by: anna, limit: 1_000_000)
            for _ in 0..<2000 { _ = try await scene.say(body, by: anna, limit: 1_000_000) }
            let times = try await FunctionTimes(scene.redis.connection)
            try await times.expectShort("a resume from the beginning") {
                _ = try await scene.log(after: first.id, limit: 2000)
            }
            try await times.expectShort("one from before the beginning") {
                _ = try await scene.log(after: 1, limit: 2000)
            }
        }
    }

    @Test func aFullRoomForCalls() async throws {
        try await MessageStoreScene.run { scene in
            let line = String(repeating: "x", count: 8500)
            try await scene.openSession("s1", openver: .max)
            // Half of the calls are over: the next login removes all their entries.
            for number in 0..<Limits.mailboxCallEvents / 2 {
                try await scene.send(line, .invitation(call: "call \(number)"))
                let bye = UserMessage.Condition.callEvent(
                    type: "voip_invite_bye", call: "call \(number)", knownBy: SessionID("s1"), invitedAt: nil)
                try await scene.send(line, bye)
            }
            let times = try await FunctionTimes(scene.redis.connection)
            try await times.expectShort("a call too many") {
                _ = try? await scene.send(line, .invitation(call: "another"))
            }
            try await times.expectShort("a fresh login") { _ = try await scene.read(limit: 512, fresh: true) }
            let waiting = try await scene.waiting()
            #expect(waiting.counted == 0 && waiting.present == 0)
        }
    }
}
