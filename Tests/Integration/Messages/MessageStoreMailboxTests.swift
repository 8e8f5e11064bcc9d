import BusProtocol
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@Suite struct MessageStoreMailboxTests {
    @Test func entriesAreNumberedWithoutGapsAboveTheClock() async throws {
        try await MessageStoreScene.run { scene in
            let time = try #require(try await scene.command("TIME").array?.first?.int)
            let first = try await scene.send("one")
            #expect(first.version >= time * 1000)
            #expect(try await scene.send("two").version == first.version + 1)
            let page = try await scene.read()
            #expect(page.entries.map(\.version) == [first.version, first.version + 1])
            #expect(page.entries.map(\.line) == ["one", "two"])
            #expect(page.cleared == 0 && page.highest == first.version + 1 && !page.more)
        }
    }

    @Test(arguments: ["msg-v2 a b v1:E:1 instant 1 ", "a\nb", " two  spaces ", "é\u{301}🙂", "nul\u{0}nul"])
    func linesAreKeptVerbatim(line: String) async throws {
        try await MessageStoreScene.run { scene in
            _ = try await scene.send(line)
            #expect(try await scene.lines().map { Array($0.utf8) } == [Array(line.utf8)])
        }
    }

    @Test func aSessionsGatewayIsToldOnlyWhileItIsConnected() async throws {
        try await MessageStoreScene.run { scene in
            let (heard, subscriber) = try await scene.listen(KeySpace.topic(scene.gateway))
            #expect(try await scene.send("offline").online == false)
            try await scene.openSession("s1", state: "detached")
            #expect(try await scene.send("detached").online)
            try await scene.openSession("s1")
            let sent = try await scene.send("msg-v2 a b c instant 1 hello ")
            #expect(sent.online)
            try await heard.wait(for: 1, "publication")
            let entry = try #require(try await scene.read().entries.last)
            #expect(entry.version == sent.version)
            let published = try #require(heard.all.first)
            #expect(
                try GatewayEvent(payload: published.readableBytesView)
                    == .mail([MailDelivery(session: SessionID("s1"), previous: sent.version - 1, entry: entry)]))
            await subscriber.close()
        }
    }

    @Test func aRepeatedCommandAddsOneEntry() async throws {
        try await MessageStoreScene.run { scene in
            let first = try await scene.send("one", command: CommandID("c1"))
            let again = try await scene.send("one", command: CommandID("c1"))
            #expect(again == first)
            #expect(try await scene.lines() == ["one"])
            #expect(try await scene.send("one", command: CommandID("c2")).version == first.version + 1)
        }
    }

    @Test func expiredEntriesAreNeitherGivenNorKept() async throws {
        try await MessageStoreScene.run { scene in
            _ = try await scene.send("short", ttl: 1)
            _ = try await scene.send("long")
            try await waitUntil("the short entry's end") {
                let lines = try await scene.lines()
                return lines == ["long"] ? nil : "\(lines)"
            }
            #expect(try await scene.command("XLEN", .string(KeySpace.tag(scene.user) + ":mbox")).int == 1)
        }
    }

    @Test func aFullMailboxRefusesUntilEntriesExpireOrAreForgotten() async throws {
        try await MessageStoreScene.run { scene in
            _ = try await scene.send("short", ttl: 1, bound: 3)
            for number in 1...2 { _ = try await scene.send("\(number)", bound: 3) }
            // The expired entry is removed, which makes room.
            try await waitUntil("room") {
                (try? await scene.send("3", bound: 3)) == nil ? "full" : nil
            }
            #expect(try await refusal { try await scene.send("4", bound: 3) } == "400 mailbox_full")
            let page = try await scene.read()
            #expect(page.entries.map(\.line) == ["1", "2", "3"])
            try await scene.clear(through: page.entries[0].version)
            #expect(try await scene.send("5", bound: 3).version == page.highest + 1)
        }
    }

    @Test func onlyNewsIsForgotten() async throws {
        try await MessageStoreScene.run { scene in
            let first = try await scene.send("1").version
            for number in 2...4 { _ = try await scene.send("\(number)") }
            try await scene.clear(through: first + 1)
            try await scene.clear(through: first)
            var page = try await scene.read()
            #expect(page.cleared == first + 1 && page.entries.map(\.line) == ["3", "4"])
            // Clearing through a version that was never given clears the present entries, but no future ones.
            try await scene.clear(through: .max / 2)
            page = try await scene.read()
            #expect(page.cleared == first + 3 && page.entries.isEmpty)
            _ = try await scene.send("5")
            #expect(try await scene.lines() == ["5"])
        }
    }

    @Test func pagesTellWhetherMoreWait() async throws {
        try await MessageStoreScene.run { scene in
            // Enough entries for more than one step of the function.
            var first: Int64 = 0
            for number in 0..<300 {
                let version = try await scene.send("\(number)", bound: 1000).version
                if number == 0 { first = version }
            }
            let page = try await scene.read(limit: 290)
            #expect(page.entries.count == 290 && page.more)
            let rest = try await scene.read(after: first + 289, limit: 10)
            #expect(rest.entries.map(\.line) == (290..<300).map(String.init) && !rest.more)
        }
    }

    @Test func aRemovedEntryIsGone() async throws {
        try await MessageStoreScene.run { scene in
            let version = try await scene.send("one").version
            try await scene.store.removeMail(scene.user, version: version)
            try await scene.store.removeMail(scene.user, version: version)
            #expect(try await scene.read().entries.isEmpty)
        }
    }

    @Test func aStoreThatIsAwayIsAnError() async throws {
        try await MessageStoreScene.run { scene in
            await scene.redis.connection.close()
            let reason = try await refusal { try await scene.send("one") }
            #expect(reason == "1001 unavailable")
        }
    }
}
