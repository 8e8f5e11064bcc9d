internal import ClusterState
internal import ControlInspection
internal import PostgresStore

extension Diagnosis {
    /// Looks at the servers of PostgreSQL and at the tables.
    mutating func lookAtPostgres() async {
        // Without tables the servers cannot be asked about the call log; the check below says what is missing.
        let inspection = try? await Database.inspect()
        add(facts: inspection?.facts ?? [])
        for clock in inspection?.clocks ?? [] { judge(clockOf: "PostgreSQL at \(clock.server)", clock.lead) }
        add((inspection?.wrong ?? []).map { .wrong("PostgreSQL: \($0)") })
        add((inspection?.advice ?? []).map { .advice("PostgreSQL: \($0)") })
        do {
            try await Database.with { pool in try await lookAtTables(pool) }
        } catch let error as PostgresError {
            // What each server said is more exact.
            guard inspection?.wrong.isEmpty ?? true else { return }
            let advice =
                error.kind == .migration ? "" : ": start it, or correct HELIOGRAPH_POSTGRES_URL and its password"
            wrong("PostgreSQL: \(Failure(error).message)\(advice)")
        } catch {
            wrong("PostgreSQL: \(error)")
        }
    }

    private mutating func lookAtTables(_ pool: PostgresPool) async throws(PostgresError) {
        let migrations = Migrations(pool: pool, level: ClusterLevel.current)
        let ahead = try await migrations.check()
        if !ahead.isEmpty {
            advise(
                "PostgreSQL: the tables are of a newer release (\(ahead.joined(separator: ", "))): use its "
                    + "heliographctl, and end the upgrade"
            )
        }
        let waiting = try await migrations.waiting().names
        if !waiting.isEmpty {
            advise(
                "PostgreSQL: \(waiting.joined(separator: ", ")) waits: run `heliographctl migrate --contract` once no "
                    + "process of an older release runs")
        }
        if let advice = try await migrations.readerAdvice() { advise("PostgreSQL: \(advice)") }
        if try await AppStore(pool: pool).list().isEmpty {
            advise("there is no app, so nobody can log in: run `heliographctl app create`")
        }
        lookAtWebhooks(try await WebhookStore(pool: pool).standings())
        await lookAtHooks(try await BeforeHookStore(pool: pool).list())
        lookAtTrunks(try await TrunkRecord.all(in: pool))
        lookAtKeys(try await APIKeyStore(pool: pool).validCount())
    }
}
