import PostgresStore
import SignalingProtocol
import TestKit
import Testing

/// What ``PostgresPool/transaction(_:_:)`` keeps, and what it does not.
@Suite struct PostgresTransactionTests {
    private struct Refusal: Error {}

    private static func withPool(_ test: (PostgresPool, AppStore) async throws -> Void) async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 2)
        let result: Result<Void, any Error>
        do {
            result = .success(try await test(pool, AppStore(pool: pool)))
        } catch {
            result = .failure(error)
        }
        await pool.close()
        try result.get()
    }

    private static func create(_ name: String, on session: any PostgresSession) async throws {
        _ = try await AppStore(pool: session).create(id: try AppID(name), certificate: "c", tokenRequired: true)
    }

    private static func names(_ store: AppStore) async throws -> [String] {
        try await store.list().map(\.id.rawValue).sorted()
    }

    private static func process(_ session: any PostgresSession) async throws -> Int64 {
        try #require(try await session.query("SELECT pg_backend_pid() AS pid").first).int64("pid")
    }

    /// How an act fails; nil when it does not.
    private static func failure(_ act: () async throws -> Void) async -> PostgresError? {
        do {
            try await act()
            return nil
        } catch {
            return error as? PostgresError
        }
    }

    @Test func whatReturnsIsKept() async throws {
        try await Self.withPool { (pool, store) async throws in
            let count = try await pool.transaction { transaction in
                try await Self.create("a", on: transaction)
                try await Self.create("b", on: transaction)
                let seen = try await Self.names(store)
                #expect(seen.isEmpty, "others see what is not done yet")
                return try await AppStore(pool: transaction).list().count
            }
            #expect(count == 2)
            #expect(try await Self.names(store) == ["a", "b"])
        }
    }

    @Test func whatThrowsIsUndone() async throws {
        try await Self.withPool { (pool, store) async throws in
            await #expect(throws: Refusal.self) {
                try await pool.transaction { transaction in
                    try await Self.create("a", on: transaction)
                    throw Refusal()
                }
            }
            #expect(try await Self.names(store).isEmpty)
            try await pool.transaction { try await Self.create("b", on: $0) }
            #expect(try await Self.names(store) == ["b"])
        }
    }

    @Test func aFailedStatementEndsItEvenWhenNobodyMinds() async throws {
        try await Self.withPool { (pool, store) async throws in
            let end = await #expect(throws: PostgresError.self) {
                try await pool.transaction { transaction in
                    try await Self.create("a", on: transaction)
                    let twice = await Self.failure { try await Self.create("a", on: transaction) }
                    #expect(twice?.isDuplicate == true)
                    let later = await Self.failure { try await transaction.query("SELECT 1") }
                    #expect(later?.kind == .closed)
                }
            }
            #expect(end?.kind == .closed)
            #expect(try await Self.names(store).isEmpty)
        }
    }

    @Test func aLostConnectionUndoesAll() async throws {
        try await Self.withPool { (pool, store) async throws in
            let lost = await #expect(throws: PostgresError.self) {
                try await pool.transaction { transaction in
                    try await Self.create("a", on: transaction)
                    let process = try await Self.process(transaction)
                    try await pool.query("SELECT pg_terminate_backend($1::int, 5000)", [.int(process)])
                    // Neither of the two may be done on a new connection, outside of the transaction.
                    #expect(await Self.failure { try await Self.create("b", on: transaction) } != nil)
                    try await Self.create("c", on: transaction)
                }
            }
            #expect(lost?.kind == .closed)
            try await waitUntil("the pool to be used again") { await pool.isReachable ? nil : "not reachable" }
            #expect(try await Self.names(store).isEmpty)
        }
    }

    @Test func aConnectionLostBeforeTheEndUndoesAll() async throws {
        try await Self.withPool { (pool, store) async throws in
            await #expect(throws: PostgresError.self) {
                try await pool.transaction { transaction in
                    try await Self.create("a", on: transaction)
                    let process = try await Self.process(transaction)
                    try await pool.query("SELECT pg_terminate_backend($1::int, 5000)", [.int(process)])
                }
            }
            try await waitUntil("the pool to be used again") { await pool.isReachable ? nil : "not reachable" }
            #expect(try await Self.names(store).isEmpty)
        }
    }
}
