import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Mailboxes as apps' servers list and empty them: the counters stay right, and call events stay.
@Suite struct ServerMailboxTests {
    private typealias Scene = MessageStoreScene

    private func list(_ scene: Scene, after version: Int64 = 0, limit: Int = 1000) async throws -> MailListing {
        try await scene.store.listMail(of: scene.user, after: version, limit: limit)
    }

    private func recall(_ scene: Scene, _ version: Int64, as command: CommandID? = nil) async throws -> MailRecall {
        try await scene.store.recallMail(of: scene.user, version: version, as: command)
    }

    private func expectCounted(_ scene: Scene) async throws {
        let waiting = try await scene.waiting()
        #expect(waiting.counted == waiting.present)
    }

    /// Waits until messages with a lifetime of one millisecond have expired.
    private func pass(_ scene: Scene) async throws {
        let end = try await scene.redis.connection.time() + .milliseconds(2)
        try await waitUntil("their end") { try await scene.redis.connection.time() > end ? nil : "too early" }
    }

    @Test func messagesAreListedInPages() async throws {
        try await Scene.run { scene in
            #expect(try await list(scene) == MailListing(count: 0, more: false, through: 0, entries: []))
            var versions: [Int64] = []
            for number in 0..<40 { versions.append(try await scene.send("line \(number)", bound: 1000).version) }
            try await scene.send("a call", .invitation(call: "c1"))
            let all = try await list(scene)
            #expect(all.count == 40 && !all.more && all.entries.map(\.version) == versions)
            #expect(all.entries.first?.line == "line 0")
            var (found, after): ([Int64], Int64) = ([], 0)
            while true {
                let page = try await list(scene, after: after, limit: 7)
                found += page.entries.map(\.version)
                after = page.through
                if !page.more { break }
            }
            #expect(found == versions)
            // What the user has read is gone, also where it was not removed yet.
            try await scene.clear(through: versions[2])
            #expect(try await list(scene).count == 37)
            #expect(try await list(scene).entries.first?.version == versions[3])
            try await expectCounted(scene)
        }
    }

    @Test func expiredMessagesAreNotListed() async throws {
        try await Scene.run { scene in
            try await scene.send("first")
            for _ in 0..<30 { try await scene.send("short", ttl: 1) }
            try await scene.send("last")
            try await pass(scene)
            let found = try await list(scene)
            #expect(found.count == 2 && found.entries.map(\.line) == ["first", "last"])
            try await expectCounted(scene)
        }
    }

    @Test func emptyingLeavesCallEvents() async throws {
        try await Scene.run { scene in
            for number in 0..<700 {
                try await scene.send("a message", ttl: number % 7 == 0 ? 1 : 60_000, bound: 1000)
                if number % 100 == 50 { try await scene.send("call \(number)", .invitation(call: "c\(number)")) }
            }
            try await pass(scene)
            let done = try await scene.store.emptyMailbox(of: scene.user)
            #expect(done.count == 600 && done.calls > 1)
            #expect(try await list(scene).count == 0)
            #expect(try await scene.lines().map { $0.prefix(4) } == Array(repeating: "call", count: 7))
            try await expectCounted(scene)
            // The versions go on.
            let highest = try await scene.read().highest
            #expect(try await scene.send("a new one").version > highest)
            try await scene.clear(through: highest)
            #expect(try await scene.lines() == ["a new one"])
            try await expectCounted(scene)
            #expect(try await scene.store.emptyMailbox(of: scene.user).count == 1)
            #expect(try await scene.box("total") == nil, "a mailbox in which nothing waits has no counters")
            let again = try await scene.store.emptyMailbox(of: scene.user)
            #expect(again.count == 0 && again.calls == 1)
        }
    }

    @Test func emptyingDoesNotCountWhatWasRead() async throws {
        try await Scene.run { scene in
            var versions: [Int64] = []
            for _ in 0..<30 { versions.append(try await scene.send("a message").version) }
            try await scene.clear(through: versions[4])
            #expect(try await scene.store.emptyMailbox(of: scene.user).count == 25)
        }
    }

    @Test func aSenderHasRoomAgainInAnEmptiedMailbox() async throws {
        try await Scene.run { scene in
            let message = Scene.Message(to: scene.user, line: "xxx", bound: 80)
            func taken(_ results: [Result<Int64, SignalingError>]) -> Int { results.count { (try? $0.get()) != nil } }
            #expect(taken(await scene.sendTogether(Array(repeating: message, count: 100))) == 40)
            try await scene.send("a call", .invitation(call: "c1"))
            #expect(try await scene.store.emptyMailbox(of: scene.user).count == 40)
            #expect(taken(await scene.sendTogether(Array(repeating: message, count: 100))) == 40)
        }
    }

    @Test func aMessageIsRecalledWhileNobodyHasIt() async throws {
        try await Scene.run { scene in
            var versions: [Int64] = []
            for _ in 0..<5 { versions.append(try await scene.send("a message").version) }
            #expect(try await recall(scene, versions[1]) == .recalled)
            #expect(try await recall(scene, versions[1]) == .absent)
            #expect(try await list(scene).entries.map(\.version) == [0, 2, 3, 4].map { versions[$0] })
            #expect(try await list(scene).count == 4)
            try await expectCounted(scene)
            // A repetition of the same wish gets the same answer.
            let command = CommandID("recall-1")
            #expect(try await recall(scene, versions[2], as: command) == .recalled)
            #expect(try await recall(scene, versions[2], as: command) == .recalled)
            try await scene.clear(through: versions[3])
            #expect(try await recall(scene, versions[3]) == .absent, "it was read")
            #expect(try await recall(scene, versions[4] + 1000) == .absent)
            let call = try await scene.send("a call", .invitation(call: "c1"))
            #expect(try await recall(scene, call.version) == .absent, "not a message")
            let short = try await scene.send("short", ttl: 1)
            try await pass(scene)
            #expect(try await recall(scene, short.version) == .absent, "it has expired")
            try await expectCounted(scene)
        }
    }

    @Test func whatASessionWasGivenStays() async throws {
        try await Scene.run { scene in
            let early = try await scene.send("before the login").version
            try await scene.openSession("s1")
            #expect(try await recall(scene, early) == .delivered)
            let given = try await scene.send("while connected").version
            #expect(try await recall(scene, given) == .delivered)
            // As presence notes it when the connection is lost.
            let box = KeySpace.tag(scene.user) + ":box"
            func detach(held: String, change: String) async throws {
                try await scene.openSession("s1", state: "detached")
                try await scene.command("HSET", .string(box), "held", .string(held), "pver", .string(change))
            }
            try await detach(held: "\(given) 17", change: "17")
            let later = try await scene.send("while detached").version
            #expect(try await recall(scene, given) == .delivered)
            #expect(try await recall(scene, later) == .recalled)
            // A process of an earlier release has made the last change, and has noted nothing.
            let unknown = try await scene.send("while detached, again").version
            try await detach(held: "\(given) 17", change: "18")
            #expect(try await recall(scene, unknown) == .delivered)
            try await scene.endSession()
            #expect(try await recall(scene, unknown) == .recalled)
            #expect(try await list(scene).entries.map(\.version) == [early, given])
        }
    }
}
