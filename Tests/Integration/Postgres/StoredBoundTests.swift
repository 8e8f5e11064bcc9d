import SignalingProtocol
import TestKit
import Testing

@testable import PostgresStore

/// What apps store under invented names is counted exactly, and bounded.
@Suite struct StoredBoundTests {
    private static let year: Int64 = 2_000_000_000

    private struct Scene {
        let pool: PostgresPool
        let apps: [AppID]

        init() async throws {
            pool = try await PostgresServer.shared.migratedPool(connections: 4)
            apps = try ["a", "b"].map { try AppID($0) }
            for app in apps {
                try await AppStore(pool: pool).create(id: app, certificate: "", tokenRequired: false)
            }
        }

        func user(_ app: Int, _ name: String) throws -> UserKey {
            UserKey(app: apps[app], account: try Account(name))
        }

        func attribute(_ user: UserKey, _ id: String) throws -> UserAttributeChange {
            UserAttributeChange(
                command: CommandID(id), user: user,
                change: .update(Attribute(name: try AttributeName("n"), value: "v")))
        }

        /// The numbers of a kind, by app, as they are kept.
        func kept(_ kind: String) async throws -> [String: Int64] {
            var numbers: [String: Int64] = [:]
            for row in try await pool.query("SELECT app, rows FROM app_stored WHERE kind = $1", [.text(kind)]) {
                numbers[try row.string("app")] = try row.int64("rows")
            }
            return numbers
        }

        func set(_ kind: String, _ app: Int, to rows: Int64) async throws {
            try await pool.query(
                "UPDATE app_stored SET rows = $3 WHERE kind = $1 AND app = $2",
                [.text(kind), .text(apps[app].rawValue), .int(rows)])
        }
    }

    @Test func bansAreCounted() async throws {
        let scene = try await Scene()
        let store = BanStore(pool: scene.pool)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let user = try scene.user(number % 2, "u\(number / 4)")
                    switch number % 4 {
                    case 0, 1: _ = try await store.set(user, until: number < 20 ? 5 : Self.year, reason: "")
                    case 2: _ = try await store.lift(user)
                    default: _ = try await store.revokeTokens(of: user, until: 5)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await scene.kept("bans") == ["a": 10, "b": 10])
        #expect(try await store.apps() == scene.apps)
        let pruned = Int64(try await store.prune(limit: 100))
        #expect(pruned > 0)
        #expect(try await scene.kept("bans").values.reduce(0, +) == 20 - pruned)
        #expect(try await AppStore(pool: scene.pool).remove(scene.apps[0]))
        #expect(try await scene.kept("bans").keys.sorted() == ["b"])
        await scene.pool.close()
    }

    @Test func anAppMayHaveSoManyBans() async throws {
        let scene = try await Scene()
        let store = BanStore(pool: scene.pool)
        let (known, absent) = (try scene.user(0, "known"), try scene.user(0, "absent"))
        _ = try await store.set(known, until: Self.year, reason: "")
        try await scene.set("bans", 0, to: 99_999)
        _ = try await store.set(try scene.user(0, "last"), until: Self.year, reason: "")
        let refusal = await #expect(throws: PostgresError.self) {
            try await store.set(absent, until: Self.year, reason: "")
        }
        #expect(refusal?.isBoundOfApp == true && refusal?.message.contains("100000 bans") == true)
        await #expect(throws: PostgresError.self) { try await store.revokeTokens(of: absent, until: 5) }
        #expect(try await store.find(absent) == nil)
        // Nothing was counted; those that are there can be changed and lifted, and a lift of nothing works.
        #expect(try await scene.kept("bans") == ["a": 100_000])
        _ = try await store.set(known, until: Self.year + 1, reason: "")
        #expect(try await store.lift(absent).holds == false)
        #expect(try await store.lift(known).holds == false)
        #expect(try await store.find(known) == nil)
        #expect(try await scene.kept("bans") == ["a": 100_000])
        // Another app has a bound of its own.
        _ = try await store.set(try scene.user(1, "known"), until: Self.year, reason: "")
        await scene.pool.close()
    }

    @Test func anAppMayHaveSoManyAttributeOwners() async throws {
        let scene = try await Scene()
        let store = AttributeStore(pool: scene.pool)
        let changes = try (0..<6).map { try scene.attribute(try scene.user($0 % 2, "u\($0)"), "c\($0)") }
        _ = try await store.changeUserAttributes(changes + [try scene.attribute(try scene.user(0, "u0"), "again")])
        #expect(try await scene.kept("attribute owners") == ["a": 3, "b": 3])
        try await scene.set("attribute owners", 0, to: 10_000_000)
        let more = try [
            scene.attribute(try scene.user(1, "u6"), "d"), scene.attribute(try scene.user(0, "u7"), "e"),
            scene.attribute(try scene.user(0, "u0"), "f"),
        ]
        let refusal = await #expect(throws: PostgresError.self) { try await store.changeUserAttributes(more) }
        #expect(refusal?.isBoundOfApp == true && refusal?.isDataError == true)
        #expect(try await scene.kept("attribute owners") == ["a": 10_000_000, "b": 3])
        // A batch of several is repeated one by one, so that only the new owner is refused.
        let batcher = Batcher<UserAttributeChange, Int64> { batch throws(PostgresError) in
            try await store.changeUserAttributes(batch)
        }
        let outcomes = await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, change) in more.enumerated() {
                group.addTask { (index, (try? await batcher.submit(change)).map { $0 > 0 } ?? false) }
            }
            return await group.reduce(into: [false, false, false]) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes == [true, false, true])
        let single = await #expect(throws: PostgresError.self) {
            try await store.changeUserAttribute(scene.attribute(try scene.user(0, "u8"), "g"), if: nil)
        }
        #expect(single?.isBoundOfApp == true)
        await scene.pool.close()
    }
}
