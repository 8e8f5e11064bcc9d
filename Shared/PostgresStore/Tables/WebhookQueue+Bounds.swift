internal import Pacing
package import SignalingProtocol

/// How the queue and the dead letters are kept within their bounds: by statements that each change few rows, so that
/// none of them exceeds its time limit, however much has gathered.
extension WebhookQueue {
    /// The number of rows that one statement moves or deletes at most.
    package static let portion = 5000

    /// How many requests of an app are remembered, and for how long.
    package static let (requestsKept, requestsKeptFor) = (1000, Duration.seconds(3 * 86_400))

    /// What waits for one app's webhook.
    package struct Backlog: Equatable, Sendable {
        /// The number of events, up to the one that was asked for.
        package var events: Int
        /// How long the oldest has been waiting, in seconds.
        package var oldest: Double
    }

    /// The place of an event in its app's order.
    package struct Place: Equatable, Sendable {
        /// When it happened, in microseconds of Redis' clock.
        package var at: Int64
        /// Its id.
        package var id: String
    }

    /// The apps that have a webhook.
    package func apps() async throws(PostgresError) -> [AppID] {
        try await names("SELECT app FROM webhooks ORDER BY app")
    }

    /// The apps that have dead letters.
    package func appsWithDead() async throws(PostgresError) -> [AppID] {
        try await names(
            """
            SELECT a.id AS app FROM apps a
            CROSS JOIN LATERAL (SELECT FROM webhook_dead d WHERE d.app = a.id COLLATE "C" LIMIT 1) x ORDER BY a.id
            """)
    }

    private func names(_ sql: String) async throws(PostgresError) -> [AppID] {
        var apps: [AppID] = []
        for row in try await pool.query(sql) {
            guard let app = try? AppID(try row.string("app")) else { continue }
            apps.append(app)
        }
        return apps
    }

    /// What waits for an app's webhook.
    /// - Parameter bound: events are counted up to this number.
    package func backlog(_ app: AppID, upTo bound: Int) async throws(PostgresError) -> Backlog {
        let rows = try await pool.query(
            """
            SELECT (SELECT count(*) FROM (SELECT FROM webhook_events WHERE app = $1 LIMIT $2) x) AS events,
                coalesce((
                    SELECT (extract(epoch FROM now() - queued_at) * 1000)::bigint FROM webhook_events
                    WHERE app = $1 ORDER BY queued_at LIMIT 1), 0) AS oldest
            """, [.text(app.rawValue), .int(Int64(bound))])
        guard let row = rows.first else { return Backlog(events: 0, oldest: 0) }
        return Backlog(events: Int(try row.int64("events")), oldest: Double(try row.int64("oldest")) / 1000)
    }

    /// The latest of the events that are too many; nil when none is.
    /// - Parameter kept: how many of an app's latest may wait.
    package func excess(_ app: AppID, keeping kept: Int) async throws(PostgresError) -> Place? {
        try await last(of: "webhook_events", app, keeping: kept)
    }

    /// The latest of the dead letters that are too many; nil when none is.
    /// - Parameter kept: how many of an app's latest are kept.
    package func excessDead(_ app: AppID, keeping kept: Int) async throws(PostgresError) -> Place? {
        try await last(of: "webhook_dead", app, keeping: kept)
    }

    private func last(of table: String, _ app: AppID, keeping kept: Int) async throws(PostgresError) -> Place? {
        let rows = try await pool.query(
            "SELECT at, id FROM \(table) WHERE app = $1 ORDER BY at DESC, id DESC OFFSET $2 LIMIT 1",
            [.text(app.rawValue), .int(Int64(kept))])
        guard let row = rows.first else { return nil }
        return Place(at: try row.int64("at"), id: try row.string("id"))
    }

    /// Makes dead letters of an app's oldest events, at most ``portion``, but not of those that
    /// a process may just be sending.
    /// - Parameter place: the latest that may be one.
    /// - Returns: the number of new dead letters.
    package func shed(_ app: AppID, upTo place: Place) async throws(PostgresError) -> Int {
        let rows = try await pool.query(
            """
            WITH old AS (
                DELETE FROM webhook_events WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM webhook_events WHERE app = $1 AND (at, id) <= ($2, $3 COLLATE "C") ORDER BY at, id
                    OFFSET coalesce((SELECT batch FROM webhooks WHERE app = $1 AND lease_until > now()), 0)
                    LIMIT $4 FOR UPDATE SKIP LOCKED))
                RETURNING app, at, id, kind, body, queued_at
            ), dead AS (
                INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error)
                SELECT app, at, id, kind, body, queued_at, 'more events waited than may' FROM old ON CONFLICT DO NOTHING
            )
            SELECT count(*) AS dead FROM old
            """, [.text(app.rawValue), .int(place.at), .text(place.id), .int(Int64(Self.portion))])
        return Int(try rows.first?.int64("dead") ?? 0)
    }

    /// Makes dead letters of events that have waited too long, at most ``portion``, and renews the lease. Does nothing
    /// when this process has no lease.
    /// - Parameters:
    ///   - error: why the latest request failed.
    ///   - age: how long an event waits at most.
    /// - Returns: the number of new dead letters.
    package func expire(
        _ app: AppID, _ error: String, olderThan age: Duration, lease: Duration
    ) async throws(PostgresError) -> Int {
        let rows = try await pool.query(
            """
            WITH hook AS (
                UPDATE webhooks SET lease_until = now() + make_interval(secs => $3::bigint / 1000.0)
                WHERE app = $1 AND lease = $4 RETURNING app
            ), old AS (
                DELETE FROM webhook_events WHERE EXISTS (SELECT FROM hook) AND ctid = ANY (ARRAY(
                    SELECT ctid FROM webhook_events
                    WHERE app = $1 AND queued_at < now() - make_interval(secs => $5::bigint / 1000.0)
                    ORDER BY queued_at LIMIT $6 FOR UPDATE SKIP LOCKED))
                RETURNING app, at, id, kind, body, queued_at
            ), dead AS (
                INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error)
                SELECT app, at, id, kind, body, queued_at, $2 FROM old ON CONFLICT DO NOTHING
            )
            SELECT count(*) AS dead FROM old
            """,
            [
                .text(app.rawValue), .text(error), .int(lease.millisecondsRoundedUp), .text(process),
                .int(age.millisecondsRoundedUp),
                .int(Int64(Self.portion)),
            ])
        return Int(try rows.first?.int64("dead") ?? 0)
    }

    /// Deletes an app's oldest dead letters, at most ``portion``.
    /// - Parameter place: the latest that is deleted.
    /// - Returns: the number of deleted ones.
    package func buryDead(_ app: AppID, upTo place: Place) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM webhook_dead WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_dead WHERE app = $1 AND (at, id) <= ($2, $3 COLLATE "C") ORDER BY at, id
                LIMIT $4 FOR UPDATE SKIP LOCKED))
            """, [.text(app.rawValue), .int(place.at), .text(place.id), .int(Int64(Self.portion))]
        ).affected
    }

    /// Deletes dead letters of all apps that are too old, at most ``portion``.
    /// - Parameter age: how long they are kept.
    /// - Returns: the number of deleted ones.
    package func buryDead(olderThan age: Duration) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM webhook_dead WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_dead WHERE died_at < now() - make_interval(secs => $1::bigint / 1000.0)
                ORDER BY died_at LIMIT $2 FOR UPDATE SKIP LOCKED))
            """, [.int(age.millisecondsRoundedUp), .int(Int64(Self.portion))]
        ).affected
    }

    /// The latest of the remembered requests that are too many; nil when none is.
    /// - Parameter kept: how many of an app's latest are kept.
    package func excessRequests(_ app: AppID, keeping kept: Int) async throws(PostgresError) -> Int64? {
        let rows = try await pool.query(
            "SELECT id FROM webhook_requests WHERE app = $1 ORDER BY id DESC OFFSET $2 LIMIT 1",
            [.text(app.rawValue), .int(Int64(kept))])
        return try rows.first?.int64("id")
    }

    /// Forgets an app's oldest requests, at most ``portion``.
    /// - Parameter id: the latest that is forgotten.
    /// - Returns: the number of forgotten ones.
    package func forgetRequests(_ app: AppID, upTo id: Int64) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM webhook_requests WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_requests WHERE app = $1 AND id <= $2 ORDER BY id
                LIMIT $3 FOR UPDATE SKIP LOCKED))
            """, [.text(app.rawValue), .int(id), .int(Int64(Self.portion))]
        ).affected
    }

    /// Forgets requests of all apps that are too old, at most ``portion``.
    /// - Parameter age: how long they are kept.
    /// - Returns: the number of forgotten ones.
    package func forgetRequests(olderThan age: Duration) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM webhook_requests WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_requests WHERE at < now() - make_interval(secs => $1::bigint / 1000.0)
                ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))
            """, [.int(age.millisecondsRoundedUp), .int(Int64(Self.portion))]
        ).affected
    }

    /// Forgets secrets that were replaced and no longer sign.
    package func forgetFormerSecrets() async throws(PostgresError) {
        try await pool.query(
            """
            UPDATE webhooks SET former_secret = NULL, former_secret_until = NULL WHERE former_secret_until <= now()
            """)
    }
}
