import PostgresStore
import SignalingProtocol
import TestKit
import Testing

@Suite struct PostgresAttributeTests {
    private let app: AppID
    private let account: Account

    init() throws {
        app = try AppID("app")
        account = try Account("setter")
    }

    private func set(_ name: String, _ value: String) throws -> AttributeChange {
        .update(Attribute(name: try AttributeName(name), value: value))
    }

    private func delete(_ name: String) throws -> AttributeChange { .delete(try AttributeName(name)) }

    private func change(_ command: String, _ channel: String, _ change: AttributeChange) throws
        -> ChannelAttributeChange
    {
        ChannelAttributeChange(
            command: CommandID(command), channel: ChannelKey(app: app, name: try ChannelName(channel)),
            account: account, change: change)
    }

    private func values(_ store: AttributeStore, _ channel: String) async throws -> [String: String] {
        let all = try await store.channelAttributes(ChannelKey(app: app, name: try ChannelName(channel)))
        return Dictionary(uniqueKeysWithValues: all.attributes.map { ($0.name.rawValue, $0.value) })
    }

    @Test func orderWithinABatch() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        let channel = ChannelKey(app: app, name: try ChannelName("room 1:{x}\u{1F600}"))
        #expect(try await store.channelAttributes(channel) == VersionedAttributes(version: 0, attributes: []))
        let name = channel.name.rawValue
        let first = try await store.changeChannelAttributes([
            change("c1", name, set("a", "1")), change("c2", name, set("b", "1")), change("c3", name, set("a", "2")),
            change("c4", name, delete("b")), change("c5", name, set("c", "")), change("c6", name, delete("none")),
            change("c7", "other", set("a", "other")),
        ])
        #expect(first[1...5].elementsEqual((1...5).map { first[0] + $0 }))
        #expect(try await values(store, name) == ["a": "2", "c": ""])
        let second = try await store.changeChannelAttributes([
            change("d1", name, set("d", "lost")), change("d2", name, .clear), change("d3", name, set("a", "3")),
            change("d4", name, set("e", "4")), change("d5", name, delete("e")),
        ])
        #expect(second == (1...5).map { first[5] + $0 })
        #expect(try await values(store, name) == ["a": "3"])
        #expect(try await store.channelAttributes(channel).version == second[4])
        #expect(try await values(store, "other") == ["a": "other"])
        await pool.close()
    }

    @Test func compareAndSet() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        let user = UserKey(app: app, account: account)
        func of(_ command: String, _ value: String) throws -> UserAttributeChange {
            UserAttributeChange(command: CommandID(command), user: user, change: try set("a", value))
        }
        #expect(try await store.changeUserAttribute(of("e1", "1"), if: "0") == nil)
        let first = try #require(try await store.changeUserAttribute(of("e2", "1"), if: nil))
        #expect(try await store.changeUserAttribute(of("e3", "2"), if: nil) == nil)
        #expect(try await store.changeUserAttribute(of("e4", "2"), if: "1") == first + 1)
        // A redelivered command has its own change before it, and gets its version again.
        #expect(try await store.changeUserAttribute(of("e4", "2"), if: "1") == first + 1)
        #expect(try await store.userAttributes(user).attributes.map(\.value) == ["2"])

        let channel = try change("f1", "room", set("a", "1"))
        #expect(try await store.changeChannelAttribute(channel, if: "x") == nil)
        let version = try #require(try await store.changeChannelAttribute(channel, if: nil))
        let cleared = try change("f2", "room", delete("a"))
        #expect(try await store.changeChannelAttribute(cleared, if: "1") == version + 1)
        #expect(try await values(store, "room") == [:])
        await pool.close()
    }

    @Test func appliedOncePerCommand() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        let one = try change("c1", "room", set("a", "1"))
        let two = try change("c2", "room", set("a", "2"))
        let first = try await store.changeChannelAttributes([one, one])
        #expect(first[0] == first[1])
        let second = try await store.changeChannelAttributes([two])
        #expect(second == [first[0] + 1])
        #expect(try await store.changeChannelAttributes([one, two]) == [first[0], second[0]])
        #expect(try await values(store, "room") == ["a": "2"])
        #expect(try await store.prune() == 0)
        try await pool.query("UPDATE applied_commands SET applied_at = now() - interval '11 minutes'")
        #expect(try await store.prune() == 2)
        await pool.close()
    }

    @Test func versionGrowsOverDeletionAndReinsertion() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        var last: Int64 = 0
        for (index, act) in try [set("a", "1"), delete("a"), set("a", "1"), .clear, set("a", "2")].enumerated() {
            let version = try await store.changeChannelAttributes([change("c\(index)", "room", act)])[0]
            #expect(last == 0 || version == last + 1)
            last = version
        }
        await pool.close()
    }

    @Test func concurrentBatchesDoNotDeadlock() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 8)
        let store = AttributeStore(pool: pool)
        let versions = try await withThrowingTaskGroup(of: [(String, Int64)].self) { group in
            for task in 0..<16 {
                group.addTask {
                    var seen: [(String, Int64)] = []
                    for round in 0..<10 {
                        let rooms = (0..<20).map { "room\($0)" }.shuffled()
                        let batch = try rooms.map { room in
                            try change("\(task).\(round).\(room)", room, round % 3 == 2 ? .clear : set("n\(task)", "v"))
                        }
                        seen += zip(rooms, try await store.changeChannelAttributes(batch))
                    }
                    return seen
                }
            }
            return try await group.reduce(into: [String: [Int64]]()) { all, seen in
                for (room, version) in seen { all[room, default: []].append(version) }
            }
        }
        #expect(versions.count == 20)
        for all in versions.values {
            let sorted = all.sorted()
            #expect(sorted.elementsEqual((0..<160).map { sorted[0] + $0 }))
        }
        await pool.close()
    }

    @Test func usersToo() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        let user = UserKey(app: app, account: try Account("ünï:{c}"))
        let twin = UserKey(app: try AppID("app2"), account: user.account)
        let versions = try await store.changeUserAttributes([
            UserAttributeChange(command: CommandID("u1"), user: user, change: set("_conn_timeout", "30")),
            UserAttributeChange(command: CommandID("u2"), user: twin, change: set("x", "1")),
            UserAttributeChange(command: CommandID("u3"), user: user, change: delete("_conn_timeout")),
            UserAttributeChange(command: CommandID("u4"), user: user, change: set("b", "\u{E9}")),
        ])
        #expect(versions[3] == versions[0] + 2)
        let all = try await store.userAttributes(user)
        #expect(all.version == versions[3])
        #expect(all.attributes.map(\.name.rawValue) == ["b"])
        #expect(try await store.userAttributes(twin).attributes.map(\.value) == ["1"])
        await pool.close()
    }

    @Test func namesDifferByBytes() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        // The same letter, composed and decomposed, makes two different names, as in Redis.
        _ = try await store.changeChannelAttributes([
            change("c1", "room", set("\u{E9}", "composed")), change("c2", "room", set("e\u{301}", "decomposed")),
        ])
        let channel = ChannelKey(app: app, name: try ChannelName("room"))
        #expect(try await store.channelAttributes(channel).attributes.map(\.value) == ["decomposed", "composed"])
        await pool.close()
    }

    @Test func aNulFailsOnlyItsOwnCommand() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        let batcher = Batcher<ChannelAttributeChange, Int64> { batch async throws(PostgresError) in
            try await store.changeChannelAttributes(batch)
        }
        let kinds = try await withThrowingTaskGroup(of: PostgresError.Kind?.self) { group in
            for number in 0..<50 {
                let change = try change("c\(number)", "room", set("n\(number)", number == 25 ? "a\0b" : "v"))
                group.addTask {
                    do throws(PostgresError) { _ = try await batcher.submit(change) } catch { return error.kind }
                    return nil
                }
            }
            return try await group.reduce(into: [PostgresError.Kind]()) { if let kind = $1 { $0.append(kind) } }
        }
        #expect(kinds == [.nul])
        #expect(try await values(store, "room").count == 49)
        await pool.close()
    }
}
