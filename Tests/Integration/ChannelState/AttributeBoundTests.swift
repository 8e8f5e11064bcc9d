import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The bounds on the attributes of a user or channel, checked in PostgreSQL, where concurrent changes are ordered.
@Suite struct AttributeBoundTests {
    private let channel: ChannelKey
    private let user: UserKey
    private let account: Account

    init() throws {
        let app = try AppID("app")
        account = try Account("setter")
        channel = ChannelKey(app: app, name: try ChannelName("room"))
        user = UserKey(app: app, account: account)
    }

    private func set(_ name: String, bytes: Int) throws -> AttributeChange {
        .update(Attribute(name: try AttributeName(name), value: String(repeating: "x", count: bytes)))
    }

    private func change(_ command: String, _ change: AttributeChange) -> ChannelAttributeChange {
        ChannelAttributeChange(command: CommandID(command), channel: channel, account: account, change: change)
    }

    @Test func theNumberOfAttributesIsBounded() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        for part in 0..<2 {
            let batch = try (0..<500).map { change("c\(part)-\($0)", try set("n\(part * 500 + $0)", bytes: 1)) }
            let versions = try await store.changeChannelAttributes(batch)
            #expect(versions.allSatisfy { $0 > 0 })
        }
        // In one batch: an addition over the bound is refused, a removal makes room, the addition then fits, and
        // existing attributes may change.
        let versions = try await store.changeChannelAttributes([
            change("d1", set("more", bytes: 1)), change("d2", .delete(AttributeName("n0"))),
            change("d3", set("more", bytes: 1)), change("d4", set("again", bytes: 1)),
            change("d5", set("n1", bytes: 2)),
        ])
        #expect(versions.map { $0 > 0 } == [false, true, true, false, true])
        // A repeated command is refused again if it was refused, and not counted twice if it was applied.
        let again = try await store.changeChannelAttributes([
            change("d4", set("again", bytes: 1)), change("d3", set("more", bytes: 1)),
        ])
        #expect(again == [0, versions[2]])
        let kept = try await store.channelAttributes(channel)
        #expect(kept.attributes.count == Limits.attributesPerOwner)
        // Users have the same bound.
        let users = try (0...1000).map {
            UserAttributeChange(command: CommandID("u\($0)"), user: user, change: try set("n\($0)", bytes: 1))
        }
        var refused = 0
        for part in stride(from: 0, to: users.count, by: 500) {
            refused += try await store.changeUserAttributes(Array(users[part..<min(part + 500, users.count)]))
                .count { $0 == 0 }
        }
        #expect(refused == 1)
        await pool.close()
    }

    @Test func theBytesOfAttributesAreBounded() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        let size = 8000
        let fits = Limits.attributeBytesPerOwner / (size + 4)
        let versions = try await store.changeChannelAttributes(
            try (0..<fits + 5).map { change("c\($0)", try set("n" + String(1000 + $0).dropFirst(), bytes: size)) })
        #expect(versions.count { $0 == 0 } == 5)
        #expect(versions.prefix(fits).allSatisfy { $0 > 0 })
        // A change to a smaller value is always accepted, one to a larger value is not.
        let last = try await store.changeChannelAttributes([
            change("d1", set("n000", bytes: 8096)), change("d2", set("n001", bytes: 7000)),
            change("d3", set("n000", bytes: 8096)),
        ])
        #expect(last.map { $0 > 0 } == [false, true, true])
        _ = try await store.changeChannelAttributes([change("e1", .clear)])
        #expect(try await store.changeChannelAttributes([change("e2", set("n", bytes: size))])[0] > 0)
        await pool.close()
    }

    @Test func concurrentChangesDoNotExceedTheBound() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 8)
        let store = AttributeStore(pool: pool)
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<12 {
                group.addTask {
                    let batch = try (0..<100).map { change("\(task)-\($0)", try set("n\(task)-\($0)", bytes: 10)) }
                    return try await store.changeChannelAttributes(batch).count { $0 > 0 }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(taken == Limits.attributesPerOwner)
        #expect(try await store.channelAttributes(channel).attributes.count == Limits.attributesPerOwner)
        await pool.close()
    }

    @Test func replacedAndDeletedAttributesAreNotCounted() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        _ = try await store.changeChannelAttributes([
            change("c1", set("a", bytes: 5)), change("c2", set("b", bytes: 6)), change("c3", set("a", bytes: 1)),
            change("c4", .delete(AttributeName("b"))), change("c5", set("c", bytes: 2)),
        ])
        let rows = try await pool.query("SELECT attributes || ' ' || bytes AS line FROM channel_attribute_versions")
        #expect(try rows.map { try $0.string("line") } == ["2 5"])
        await pool.close()
    }

    @Test func versionsOfEndedChannelsAreRemoved() async throws {
        let pool = try await PostgresServer.shared.migratedPool()
        let store = AttributeStore(pool: pool)
        let first = try await store.changeChannelAttributes([
            change("c1", set("a", bytes: 5)), change("c2", .clear),
        ])
        let other = ChannelKey(app: channel.app, name: try ChannelName("kept"))
        _ = try await store.changeChannelAttributes([
            ChannelAttributeChange(
                command: CommandID("c3"), channel: other, account: account, change: try set("a", bytes: 1))
        ])
        #expect(try await store.forgetChannels(unchangedFor: .seconds(60)) == 0)
        #expect(try await store.forgetChannels(unchangedFor: .zero) == 1)
        #expect(try await store.channelVersion(channel) == 0)
        #expect(try await store.channelVersion(other) > 0)
        // A channel that exists again continues with higher versions than clients have seen before.
        #expect(try await store.changeChannelAttributes([change("c4", set("a", bytes: 5))])[0] > first[1])
        await pool.close()
    }
}
