import BusProtocol
import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The bounds of what may wait for a user, and how the room is shared between senders.
@Suite struct MailboxBoundTests {
    private typealias Message = MessageStoreScene.Message

    private func taken(_ results: [Result<Int64, SignalingError>]) -> Int {
        results.reduce(0) { $0 + ((try? $1.get()) == nil ? 0 : 1) }
    }

    @Test(arguments: [(80, Limits.mailboxBytes, 3), (10_000, 80_000, 936)])
    func oneSenderCannotFillAMailbox(entries: Int, bytes: Int, length: Int) async throws {
        try await MessageStoreScene.run { scene in
            let line = String(repeating: "x", count: length)
            var taken: [Int] = []
            for name in ["first", "second", "third", "fourth"] {
                let sender = UserKey(app: scene.user.app, account: try Account(name))
                try await scene.open(name, of: sender)
                let message = Message(
                    to: scene.user, from: sender, session: SessionID(name), line: line, bound: entries, bytes: bytes)
                taken.append(self.taken(await scene.sendTogether(Array(repeating: message, count: 100))))
            }
            // Eighty at most; a half, and from there on a quarter for each.
            #expect(taken == [40, 20, 20, 0])
            // The mailbox's owner makes room for everybody by clearing it.
            let page = try await scene.read(limit: 1000)
            try await scene.clear(through: page.highest)
            let again = Message(to: scene.user, line: line, bound: entries, bytes: bytes)
            #expect(self.taken(await scene.sendTogether(Array(repeating: again, count: 100))) == 40)
        }
    }

    @Test func theBoundIsNamed() async throws {
        try await MessageStoreScene.run { scene in
            let line = String(repeating: "x", count: 1000)
            let results = await scene.sendTogether([
                Message(to: scene.user, line: line, bytes: 1100), Message(to: scene.user, line: line, bytes: 1100),
            ])
            guard results.count == 2, case .failure(let error) = results[1] else {
                throw TestFailure("not refused: \(results)")
            }
            #expect(error.reason == .mailboxFull && error.message.contains("1100 bytes"))
        }
    }

    @Test func bytesAreCountedWhateverBecomesOfEntries() async throws {
        try await MessageStoreScene.run { scene in
            var versions: [Int64] = []
            for number in 0..<120 {
                let ttl: Int64 = number % 3 == 1 ? 1 : 60_000
                versions.append(
                    try await scene.send(String(repeating: "x", count: number), ttl: ttl, bound: 1000).version)
            }
            try await scene.store.removeMail(scene.user, version: versions[50])
            // Waits until the messages with a lifetime of one millisecond have been removed.
            try await waitUntil("their end") {
                let count = try await scene.read(limit: 1000).entries.count
                return count == 79 ? nil : "\(count)"
            }
            var waiting = try await scene.waiting()
            #expect(waiting.counted == waiting.present && waiting.present > 0)
            for version in [versions[16], versions[18], versions[51], versions[117]] {
                try await scene.clear(through: version)
                waiting = try await scene.waiting()
                #expect(waiting.counted == waiting.present)
            }
            try await scene.clear(through: versions[119])
            try await scene.send("a new beginning", bound: 1000)
            waiting = try await scene.waiting()
            #expect(waiting.counted == waiting.present)
        }
    }

    @Test func callEventsHaveRoomOfTheirOwn() async throws {
        try await MessageStoreScene.run { scene in
            func invite(_ call: String, ttl: Int64 = 60_000) async throws -> Int64 {
                var message = UserMessage(
                    to: scene.user, line: "invite", timeToLive: .milliseconds(ttl), condition: .invitation(call: call))
                message.bounds = MailboxBounds(entries: 1, callEvents: 3)
                return try await scene.store.sendToUser(message).version
            }
            try await scene.send("a message", bound: 1)
            #expect(try await refusal { try await scene.send("another", bound: 1) } == "400 mailbox_full")
            _ = try await invite("c1", ttl: 1)
            let second = try await invite("c2")
            _ = try await invite("c3")
            // Expired and forgotten entries take no room.
            try await waitUntil("room for a call") { (try? await invite("c4")) == nil ? "none" : nil }
            #expect(try await refusal { try await invite("c5") } == "400 mailbox_full")
            try await scene.clear(through: second)
            _ = try await invite("c6")
            // Calls do not use the room of messages.
            _ = try await scene.send("another", bound: 1)
            #expect(try await refusal { try await scene.send("a third", bound: 1) } == "400 mailbox_full")
        }
    }

    @Test func whoNeverLoggedInLeavesNothing() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.send("short", ttl: 1)
            try await scene.send("invite", ttl: 2, .invitation(call: "c"))
            try await waitUntil("nothing") {
                let tag = KeySpace.tag(scene.user)
                let keys = try await scene.command("KEYS", "*").array?.compactMap(\.string) ?? []
                let left = keys.filter { $0.hasPrefix(tag) }
                return left.isEmpty ? nil : "\(left)"
            }
            try await scene.send("long", ttl: 60_000)
            try await scene.send("short", ttl: 1)
            for key in [":box", ":mbox"] {
                let left = try await scene.command("PTTL", .string(KeySpace.tag(scene.user) + key)).int ?? 0
                #expect((59_000...67_500).contains(left), "\(key)")
            }
        }
    }

    @Test func aFullRedisTakesNoMailButLetsItGo() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.openSession("s1")
            let version = try await scene.send("one").version
            let call = UserMessage.Condition.invitation(call: "c")
            func setBound(_ share: Double) async throws {
                let used = try await scene.redis.information("used_memory", section: "memory")
                try await scene.command("CONFIG", "SET", "maxmemory", .int64(Int64(Double(used) / share)))
            }
            try await setBound(0.9)
            try await waitUntil("a refusal") {
                do { return "\(try await scene.send("two"))" } catch let error as SignalingError {
                    return error == .memoryFull ? nil : "\(error)"
                }
            }
            #expect(await scene.sendTogether([Message(to: scene.user, line: "x")]) == [.failure(.memoryFull)])
            let invited = try await scene.send("a call", call).version
            #expect(invited > version)
            // Past the bound Redis accepts no new entries, but acts that free memory still work.
            try await setBound(1.5)
            #expect(try await refusal { try await scene.send("a call", call) } == "1001 memory_full")
            #expect(await scene.sendTogether([Message(to: scene.user, line: "x")]) == [.failure(.memoryFull)])
            #expect(try await scene.read(fresh: true).entries.map(\.line).filter { $0 != "two" } == ["one", "a call"])
            #expect(try await scene.clear(through: version) == version)
            try await scene.store.removeMail(scene.user, version: invited)
            #expect(try await scene.log(after: 0).complete)
            try await scene.command("CONFIG", "SET", "maxmemory", 0)
            try await waitUntil("room") { (try? await scene.send("three")) == nil ? "none" : nil }
        }
    }
}
