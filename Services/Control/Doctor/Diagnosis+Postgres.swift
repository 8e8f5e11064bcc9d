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
    }

    // MARK: - Webhooks

    /// How long an event may wait before it is said, in seconds: as in the alert HeliographWebhooksLate.
    private static let patience: Int64 = 900
    /// How many apps are named.
    private static let named = 3

    private mutating func lookAtWebhooks(_ standings: [WebhookStanding]) {
        guard !standings.isEmpty else { return }
        add(facts: ["webhooks: of \(standings.count) apps"])
        if let runningKinds, !runningKinds.contains("webhooks") {
            wrong(
                "no webhooks process runs: events of \(Self.names(standings)) wait, and are given up after a day; "
                    + "start one, or see why it ended (its log)")
        }
        let late = standings.filter { $0.oldest ?? 0 > Self.patience }
        if let oldest = late.compactMap(\.oldest).max() {
            let reason = late.compactMap(\.lastError).first.map { ", for example because: \($0)" } ?? ""
            advise(
                "events for the webhooks of \(Self.names(late)) have been waiting for up to \(oldest) s\(reason): see "
                    + "`heliographctl webhook list`; after a day they are given up")
        }
        let dead = standings.filter { $0.dead > 0 }
        if !dead.isEmpty {
            let letters = dead.map(\.dead).reduce(0, +)
            let atLeast = dead.contains { $0.dead >= WebhookStore.countedLetters } ? "at least " : ""
            advise(
                "\(atLeast)\(letters) events for the webhooks of \(Self.names(dead)) were given up: `heliographctl "
                    + "webhook dead APP` says why, `heliographctl webhook replay APP` sends them again")
        }
    }

    private static func names(_ standings: [WebhookStanding]) -> String {
        let rest = standings.count > named ? " and \(standings.count - named) more" : ""
        return standings.prefix(named).map(\.app).joined(separator: ", ") + rest
    }
}
