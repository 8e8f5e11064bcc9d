import Logging
import PostgresStore
import SignalingProtocol
import TestKit
import Testing

@Suite struct PostgresPoolTests {
    @Test func parametersComeBackVerbatim() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let text = "it's \"q\" \\ {a,b} \u{1F600}\n$1; DROP TABLE apps; --"
        for _ in 0..<2 {
            let rows = try await pool.query(
                "SELECT $1::text AS a, $2::bigint AS b, $3::boolean AS c, $4::text[] AS d, $5::text AS e",
                [.text(text), .int(.max), false, .texts([text, nil]), nil])
            let row = try #require(rows.first)
            #expect(try row.string("a") == text)
            #expect(try row.int64("b") == .max)
            #expect(try !row.bool("c"))
            #expect(try row.optionalString("e") == nil)
        }
        let elements = try await pool.query(
            "SELECT x FROM unnest($1::text[]) AS x", [.texts([text, nil, "", "NULL"])])
        #expect(try elements.map { try $0.optionalString("x") } == [text, nil, "", "NULL"])
        await pool.close()
    }

    @Test func anErrorLeavesTheConnectionUsable() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let process = try await pool.query("SELECT pg_backend_pid() AS pid").first?.int64("pid")
        let syntax = await #expect(throws: PostgresError.self) { try await pool.query("SELEC 1") }
        #expect(syntax?.code == "42601")
        let nul = await #expect(throws: PostgresError.self) {
            try await pool.query("SELECT $1::text", [.text("a\0b")])
        }
        #expect(nul?.kind == .nul)
        #expect(try await pool.query("SELECT pg_backend_pid() AS pid").first?.int64("pid") == process)
        await pool.close()
    }

    @Test func slowQueriesEnd() async throws {
        var configuration = try PostgresConfiguration(url: try await PostgresServer.shared.createDatabase())
        configuration.queryTimeout = .milliseconds(200)
        let pool = PostgresPool(configuration: configuration, connections: 1, logger: Logger(label: "test"))
        let server = await #expect(throws: PostgresError.self) { try await pool.query("SELECT pg_sleep(30)") }
        #expect(server?.code == "57014")
        #expect(server?.signaling.reason == .unavailable)
        // When the server does not enforce its timeout, the client's own timeout applies.
        try await pool.query("SET statement_timeout = 0")
        let client = await #expect(throws: PostgresError.self) { try await pool.query("SELECT pg_sleep(30)") }
        #expect(client?.kind == .timeout)
        try await waitUntil("the pool to be used again") { await pool.isReachable ? nil : "not reachable" }
        await pool.close()
    }

    @Test func moreQueriesThanConnections() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 2)
        let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<200 {
                group.addTask {
                    try await pool.query("SELECT $1::bigint AS n", [.int(Int64(number))]).first?.int64("n") ?? 0
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 19_900)
        await pool.close()
        let error = await #expect(throws: PostgresError.self) { try await pool.ping() }
        #expect(error?.kind == .closed)
    }

    @Test func tooManyWaiting() async throws {
        var configuration = try PostgresConfiguration(url: try await PostgresServer.shared.createDatabase())
        configuration.waitingQueries = 1
        let pool = PostgresPool(configuration: configuration, connections: 1, logger: Logger(label: "test"))
        let kinds = await withTaskGroup(of: PostgresError.Kind?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do throws(PostgresError) { try await pool.query("SELECT pg_sleep(0.2)") } catch {
                        return error.kind
                    }
                    return nil
                }
            }
            return await group.reduce(into: [PostgresError.Kind?]()) { $0.append($1) }
        }
        #expect(kinds.contains(.full))
        #expect(kinds.contains(nil))
        await pool.close()
    }

    @Test func serverAwayAndBack() async throws {
        let server = try await PostgresServer()
        let pool = try await server.migratedPool(connections: 2)
        try await server.stop()
        for _ in 0..<3 {
            let error = await #expect(throws: PostgresError.self) { try await pool.ping() }
            #expect(error?.kind == .closed)
            #expect(error?.signaling.reason == .unavailable)
        }
        #expect(await pool.isReachable == false)
        try await server.start()
        try await waitUntil("the pool to connect again", within: .seconds(10)) {
            await pool.isReachable ? nil : "not reachable"
        }
        // PostgreSQL restarted while no query was running: the idle connections are recognised as stale before use.
        try await server.stop()
        try await server.start()
        for _ in 0..<4 { try await pool.ping() }
        await pool.close()
        try await server.remove()
    }

    @Test func nobodyThere() async throws {
        let configuration = try PostgresConfiguration(url: "postgresql://heliograph@127.0.0.1:1/none")
        let pool = PostgresPool(configuration: configuration, logger: Logger(label: "test"))
        let error = await #expect(throws: PostgresError.self) { try await pool.ping() }
        #expect(error?.kind == .closed)
        await pool.close()
    }

    @Test func aHungServerDelaysOnlyThoseWhoMetItFirst() async throws {
        let server = try await PostgresServer()
        let pool = try await server.migratedPool(connections: 2)
        try await pool.ping()
        try server.freeze()
        let started = ContinuousClock.now
        // More queries than connections: those that wait for a connection fail as soon as the first one times out.
        let kinds = await withTaskGroup(of: PostgresError.Kind?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do throws(PostgresError) { try await pool.query("SELECT 1", within: .seconds(1)) } catch {
                        return error.kind
                    }
                    return nil
                }
            }
            return await group.reduce(into: [PostgresError.Kind?]()) { $0.append($1) }
        }
        #expect(kinds.allSatisfy { $0 == .timeout || $0 == .closed })
        #expect(ContinuousClock.now - started < .seconds(2))
        // From then on queries fail at once.
        let later = ContinuousClock.now
        for _ in 0..<100 { await #expect(throws: PostgresError.self) { try await pool.ping() } }
        #expect(ContinuousClock.now - later < .seconds(1))
        try server.thaw()
        try await waitUntil("the pool to be used again", within: .seconds(20)) {
            await pool.isReachable ? nil : "not reachable"
        }
        await pool.close()
        try await server.remove()
    }

    @Test func aHostThatDoesNotAnswerIsPassedBy() async throws {
        let url = try await PostgresServer.shared.createDatabase()
        // Accepts connections and never answers.
        let silent = try SilentListener()
        defer { silent.close() }
        let several = url.replacing("127.0.0.1:", with: "127.0.0.1:\(silent.port),127.0.0.1:")
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(url: several), connections: 2, logger: Logger(label: "test"))
        try await waitUntil("the other host to be used", within: .seconds(10)) {
            do throws(PostgresError) {
                try await pool.query("SELECT 1", within: .seconds(1))
                return nil
            } catch {
                return error.description
            }
        }
        // From then on it is tried first.
        let started = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 { group.addTask { try await pool.query("SELECT pg_sleep(0.01)", within: .seconds(1)) } }
            try await group.waitForAll()
        }
        #expect(ContinuousClock.now - started < .seconds(1))
        await pool.close()
    }
}
