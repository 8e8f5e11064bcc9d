package import BusProtocol
internal import Pacing

/// How the queue and the dead letters are kept within their bounds: by statements that each change few rows, so that
/// none of them exceeds its time limit, however much has gathered.
extension WebhookQueue {
    /// The number of rows that one statement moves or deletes at most.
    package static let portion = 5000

    /// How many requests of a webhook are remembered, and for how long.
    package static let (requestsKept, requestsKeptFor) = (1000, Duration.seconds(3 * 86_400))

    /// What waits for one webhook.
    package struct Backlog: Equatable, Sendable {
        /// The number of events, up to the one that was asked for.
        package var events: Int
        /// How long the oldest has been waiting, in seconds.
        package var oldest: Double
    }

    /// The place of an event in its webhook's order.
    package struct Place: Equatable, Sendable {
        /// When it happened, in microseconds of Redis' clock.
        package var at: Int64
        /// Its id.
        package var id: String
    }

    /// All webhooks.
    package func webhooks() async throws(PostgresError) -> [WebhookKey] {
        try await keys("SELECT app, name FROM webhooks ORDER BY app, name")
    }

    /// The webhooks that have dead letters, and those that were removed and have left some. Jumps from one to the next,
    /// because each may have very many.
    package func webhooksWithDead() async throws(PostgresError) -> [WebhookKey] {
        try await keys(
            """
            WITH RECURSIVE found AS (
                (SELECT app, webhook FROM webhook_dead ORDER BY app, webhook LIMIT 1)
                UNION ALL
                SELECT n.app, n.webhook FROM found f CROSS JOIN LATERAL (
                    SELECT d.app, d.webhook FROM webhook_dead d WHERE (d.app, d.webhook) > (f.app, f.webhook)
                    ORDER BY d.app, d.webhook LIMIT 1) n
            )
            SELECT app, webhook AS name FROM found
            """)
    }

    private func keys(_ sql: String) async throws(PostgresError) -> [WebhookKey] {
        try await pool.query(sql).compactMap(WebhookKey.usable)
    }

    /// What waits for a webhook.
    /// - Parameter bound: events are counted up to this number.
    package func backlog(_ key: WebhookKey, upTo bound: Int) async throws(PostgresError) -> Backlog {
        let rows = try await pool.query(
            """
            SELECT (SELECT count(*) FROM (SELECT FROM webhook_events WHERE app = $1 AND webhook = $2 LIMIT $3) x) AS events,
                coalesce((
                    SELECT (extract(epoch FROM now() - queued_at) * 1000)::bigint FROM webhook_events
                    WHERE app = $1 AND webhook = $2 ORDER BY queued_at LIMIT 1), 0) AS oldest
            """, key.parameters + [.int(Int64(bound))])
        guard let row = rows.first else { return Backlog(events: 0, oldest: 0) }
        return Backlog(events: Int(try row.int64("events")), oldest: Double(try row.int64("oldest")) / 1000)
    }

    /// The latest of the events that are too many; nil when none is.
    /// - Parameter kept: how many of a webhook's latest may wait.
    package func excess(_ key: WebhookKey, keeping kept: Int) async throws(PostgresError) -> Place? {
        try await last(of: "webhook_events", key, keeping: kept)
    }

    /// The latest of the dead letters that are too many; nil when none is.
    /// - Parameter kept: how many of a webhook's latest are kept.
    package func excessDead(_ key: WebhookKey, keeping kept: Int) async throws(PostgresError) -> Place? {
        try await last(of: "webhook_dead", key, keeping: kept)
    }

    private func last(of table: String, _ key: WebhookKey, keeping kept: Int) async throws(PostgresError) -> Place? {
        let rows = try await pool.query(
            """
            SELECT at, id FROM \(table) WHERE app = $1 AND webhook = $2 ORDER BY at DESC, id DESC OFFSET $3 LIMIT 1
            """, key.parameters + [.int(Int64(kept))])
        guard let row = rows.first else { return nil }
        return Place(at: try row.int64("at"), id: try row.string("id"))
    }

    /// Makes dead letters of a webhook's oldest events, at most ``portion``, but not of those that
    /// a process may just be sending.
    /// - Parameter place: the latest that may be one.
    /// - Returns: the number of new dead letters.
    package func shed(_ key: WebhookKey, upTo place: Place) async throws(PostgresError) -> Int {
        let rows = try await pool.query(
            """
            WITH old AS (
                DELETE FROM webhook_events WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM webhook_events
                    WHERE app = $1 AND webhook = $2 AND (at, id) <= ($3, $4 COLLATE "C") ORDER BY at, id
                    OFFSET coalesce((
                        SELECT batch FROM webhooks WHERE app = $1 AND name = $2 AND lease_until > now()), 0)
                    LIMIT $5 FOR UPDATE SKIP LOCKED))
                RETURNING app, webhook, at, id, kind, body, queued_at
            ), dead AS (
                INSERT INTO webhook_dead (app, webhook, at, id, kind, body, queued_at, error)
                SELECT app, webhook, at, id, kind, body, queued_at, 'more events waited than may' FROM old
                ON CONFLICT DO NOTHING
            )
            SELECT count(*) AS dead FROM old
            """, key.parameters + [.int(place.at), .text(place.id), .int(Int64(Self.portion))])
        return Int(try rows.first?.int64("dead") ?? 0)
    }

    /// Makes dead letters of events that have waited too long, at most ``portion``, and renews the lease. Does nothing
    /// when this process has no lease.
    /// - Parameters:
    ///   - error: why the latest request failed.
    ///   - age: how long an event waits at most.
    /// - Returns: the number of new dead letters.
    package func expire(
        _ key: WebhookKey, _ error: String, olderThan age: Duration, lease: Duration
    ) async throws(PostgresError) -> Int {
        let rows = try await pool.query(
            """
            WITH hook AS (
                UPDATE webhooks SET lease_until = now() + make_interval(secs => $4::bigint / 1000.0)
                WHERE app = $1 AND name = $2 AND lease = $5 RETURNING app
            ), old AS (
                DELETE FROM webhook_events WHERE EXISTS (SELECT FROM hook) AND ctid = ANY (ARRAY(
                    SELECT ctid FROM webhook_events
                    WHERE app = $1 AND webhook = $2 AND queued_at < now() - make_interval(secs => $6::bigint / 1000.0)
                    ORDER BY queued_at LIMIT $7 FOR UPDATE SKIP LOCKED))
                RETURNING app, webhook, at, id, kind, body, queued_at
            ), dead AS (
                INSERT INTO webhook_dead (app, webhook, at, id, kind, body, queued_at, error)
                SELECT app, webhook, at, id, kind, body, queued_at, $3 FROM old ON CONFLICT DO NOTHING
            )
            SELECT count(*) AS dead FROM old
            """,
            key.parameters + [
                .text(error), .int(lease.millisecondsRoundedUp), .text(process), .int(age.millisecondsRoundedUp),
                .int(Int64(Self.portion)),
            ])
        return Int(try rows.first?.int64("dead") ?? 0)
    }

    /// Deletes a webhook's oldest dead letters, at most ``portion``.
    /// - Parameter place: the latest that is deleted.
    /// - Returns: the number of deleted ones.
    package func buryDead(_ key: WebhookKey, upTo place: Place) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM webhook_dead WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_dead
                WHERE app = $1 AND webhook = $2 AND (at, id) <= ($3, $4 COLLATE "C") ORDER BY at, id
                LIMIT $5 FOR UPDATE SKIP LOCKED))
            """, key.parameters + [.int(place.at), .text(place.id), .int(Int64(Self.portion))]
        ).affected
    }

    /// Deletes dead letters of all webhooks that are too old, at most ``portion``.
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
    /// - Parameter kept: how many of a webhook's latest are kept.
    package func excessRequests(_ key: WebhookKey, keeping kept: Int) async throws(PostgresError) -> Int64? {
        let rows = try await pool.query(
            "SELECT id FROM webhook_requests WHERE app = $1 AND webhook = $2 ORDER BY id DESC OFFSET $3 LIMIT 1",
            key.parameters + [.int(Int64(kept))])
        return try rows.first?.int64("id")
    }

    /// Forgets a webhook's oldest requests, at most ``portion``.
    /// - Parameter id: the latest that is forgotten.
    /// - Returns: the number of forgotten ones.
    package func forgetRequests(_ key: WebhookKey, upTo id: Int64) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM webhook_requests WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_requests WHERE app = $1 AND webhook = $2 AND id <= $3 ORDER BY id
                LIMIT $4 FOR UPDATE SKIP LOCKED))
            """, key.parameters + [.int(id), .int(Int64(Self.portion))]
        ).affected
    }

    /// Forgets requests of all webhooks that are too old, at most ``portion``.
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
