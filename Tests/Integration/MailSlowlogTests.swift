import MessageStore
import RedisStore
import SignalingProtocol
import TestKit
import Testing

/// No function of mail or logs holds Redis for long, whatever waits.
@Suite struct MailSlowlogTests {
    private typealias Message = MessageStoreScene.Message

    /// What the machine the test runs on adds is not Redis' work: each act is done some times, and the best one counts.
    private static let bound: Int64 = 5000
    private static let attempts = 3

    /// Runs `act` and tells how long Redis was at its slowest function call, us.
    private func slowest(_ scene: MessageStoreScene, _ act: () async throws -> Void) async throws -> Int64 {
        try await scene.command("SLOWLOG", "RESET")
        try await act()
        let entries = try await scene.command("SLOWLOG", "GET", 1000).array ?? []
        return entries.compactMap { entry -> Int64? in
            guard let parts = entry.array, parts[3].array?.first?.string == "FCALL" else { return nil }
            return parts[2].int
        }.max() ?? 0
    }

    private func expectShort(
        _ what: String, _ scene: MessageStoreScene, _ act: () async throws -> Void
    ) async throws {
        var best = Int64.max
        for _ in 0..<Self.attempts where best >= Self.bound { best = min(best, try await slowest(scene, act)) }
        #expect(best < Self.bound, "\(what): \(best) us")
    }

    /// Fills the user's mailbox by several senders until it is full.
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
            try await scene.command("CONFIG", "SET", "slowlog-log-slower-than", 0)
            try await scene.command("CONFIG", "SET", "slowlog-max-len", 1000)
            try await scene.openSession("s1")
            try await fill(scene, length: length)
            let page = try await scene.read(limit: 512, fresh: true)
            try #require(page.more)
            try await expectShort("a login's first read", scene) { _ = try await scene.read(limit: 512, fresh: true) }
            try await expectShort("a later read", scene) {
                _ = try await scene.read(after: page.highest - 1000, limit: 512)
            }
            try await expectShort("a message to a full mailbox", scene) {
                _ = await scene.sendTogether([
                    Message(to: scene.user, line: String(repeating: "x", count: 8192), bound: Limits.mailboxEntries)
                ])
            }
            try await expectShort("most of it forgotten at once", scene) {
                try await scene.clear(through: page.highest - 1)
            }
            try await expectShort("all of it forgotten at once", scene) { try await scene.clear(through: page.highest) }
        }
    }

    @Test func aFullLog() async throws {
        try await MessageStoreScene.run { scene in
            let anna = try Account("anna")
            try await scene.admit(anna)
            let body = String(repeating: "x", count: Limits.messageBytes)
            let first = try await scene.say(body, by: anna, limit: 1_000_000)
            for _ in 0..<2000 { _ = try await scene.say(body, by: anna, limit: 1_000_000) }
            try await scene.command("CONFIG", "SET", "slowlog-log-slower-than", 0)
            try await expectShort("a resume from the beginning", scene) {
                _ = try await scene.log(after: first.id, limit: 2000)
            }
            try await expectShort("one from before the beginning", scene) {
                _ = try await scene.log(after: 1, limit: 2000)
            }
        }
    }

    @Test func aFullRoomForCalls() async throws {
        try await MessageStoreScene.run { scene in
            let line = String(repeating: "x", count: 8500)
            try await scene.openSession("s1", openver: .max)
            // Half of them ended: the next login drops all.
            for number in 0..<Limits.mailboxCallEvents / 2 {
                try await scene.send(line, .invitation(call: "call \(number)"))
                let bye = UserMessage.Condition.callEvent(
                    type: "voip_invite_bye", call: "call \(number)", knownBy: SessionID("s1"), invitedAt: nil)
                try await scene.send(line, bye)
            }
            try await scene.command("CONFIG", "SET", "slowlog-log-slower-than", 0)
            try await expectShort("a call too many", scene) {
                _ = try? await scene.send(line, .invitation(call: "another"))
            }
            try await expectShort("a fresh login", scene) { _ = try await scene.read(limit: 512, fresh: true) }
            let waiting = try await scene.waiting()
            #expect(waiting.counted == 0 && waiting.present == 0)
        }
    }
}
