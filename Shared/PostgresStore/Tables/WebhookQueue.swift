package import SignalingProtocol

/// The queue of events that are delivered by webhooks. Every method throws ``PostgresError``.
///
/// A process leases an app's queue while it sends, so that events are sent in order. The times are PostgreSQL's.
package struct WebhookQueue: Sendable {
    /// An app's queue, leased by this process.
    package struct Claim: Equatable, Sendable {
        /// Where to send.
        package var webhook: Webhook
        /// Requests that have failed since the last success.
        package var attempts: Int64
    }

    /// An event that waits.
    package struct Event: Equatable, Sendable {
        /// When it happened, in microseconds of Redis' clock.
        package var at: Int64
        /// Its id.
        package var id: String
        /// The event as it is sent.
        package var body: String
    }

    /// Which events may be sent: those that happened up to ``microseconds``, and those that have waited longer than ``patience``.
    package struct Horizon: Equatable, Sendable {
        /// The time up to which all events are in the queue, in microseconds of Redis' clock.
        package var microseconds: Int64
        /// After this time an event is sent although earlier ones may be missing.
        package var patience: Duration

        package init(microseconds: Int64, patience: Duration) {
            self.microseconds = microseconds
            self.patience = patience
        }
    }

    /// What waits for one app's webhook.
    package struct Backlog: Equatable, Sendable {
        /// The app.
        package var app: String
        /// The number of events.
        package var events: Int64
        /// How long the oldest has been waiting, in seconds.
        package var oldest: Double
    }

    private let pool: PostgresPool
    private let process: String

    /// Works on the database of `pool`.
    /// - Parameter process: names this process among all that send.
    package init(pool: PostgresPool, process: String) {
        self.pool = pool
        self.process = process
    }

    private static let isFree = "next_attempt_at <= now() AND (lease_until IS NULL OR lease_until < now())"

    /// Whether any queue is free and not empty.
    package func hasWork() async throws(PostgresError) -> Bool {
        let rows = try await pool.query(
            """
            SELECT EXISTS (
                SELECT FROM webhooks w
                WHERE \(Self.isFree) AND EXISTS (SELECT FROM webhook_events e WHERE e.app = w.app)) AS found
            """)
        return try rows.first?.bool("found") == true
    }

    /// Leases queues that are free and have events up to the horizon.
    /// - Parameters:
    ///   - limit: the number of queues at most.
    ///   - lease: how long nobody else takes them.
    package func claim(_ limit: Int, lease: Duration, _ horizon: Horizon) async throws(PostgresError) -> [Claim] {
        let rows = try await pool.query(
            """
            UPDATE webhooks SET lease = $1, lease_until = now() + make_interval(secs => $2::bigint / 1000.0)
            WHERE app IN (
                SELECT app FROM webhooks w
                WHERE \(Self.isFree) AND EXISTS (
                    SELECT FROM webhook_events e WHERE e.app = w.app AND (
                        e.at <= $3 OR e.queued_at < now() - make_interval(secs => $4::bigint / 1000.0)))
                ORDER BY next_attempt_at LIMIT $5 FOR UPDATE SKIP LOCKED)
            RETURNING app, url, secret, array_to_string(kinds, ' ') AS kinds, batch, allow_private, attempts
            """,
            [
                .text(process), .int(lease.milliseconds), .int(horizon.microseconds),
                .int(horizon.patience.milliseconds), .int(Int64(limit)),
            ])
        var claims: [Claim] = []
        for row in rows { claims.append(Claim(webhook: try Webhook(row), attempts: try row.int64("attempts"))) }
        return claims
    }

    /// The next events of an app, in order.
    package func next(_ app: AppID, limit: Int, _ horizon: Horizon) async throws(PostgresError) -> [Event] {
        let rows = try await pool.query(
            """
            SELECT at, id, body FROM webhook_events
            WHERE app = $1 AND (at <= $2 OR queued_at < now() - make_interval(secs => $3::bigint / 1000.0))
            ORDER BY at, id LIMIT $4
            """,
            [
                .text(app.rawValue), .int(horizon.microseconds), .int(horizon.patience.milliseconds),
                .int(Int64(limit)),
            ])
        var events: [Event] = []
        for row in rows {
            events.append(Event(at: try row.int64("at"), id: try row.string("id"), body: try row.string("body")))
        }
        return events
    }

    /// Removes delivered events, and renews the lease.
    /// - Returns: whether the queue is still leased by this process.
    package func delivered(
        _ events: [Event], of app: AppID, lease: Duration
    ) async throws(PostgresError) -> Bool {
        let rows = try await pool.query(
            """
            WITH sent AS (
                DELETE FROM webhook_events e USING unnest($2::bigint[], $3::text[]) AS i(at, id)
                WHERE e.app = $1 AND e.at = i.at AND e.id = i.id COLLATE "C"
            )
            UPDATE webhooks SET attempts = 0, failing_since = NULL, last_error = NULL, delivered_at = now(),
                lease_until = now() + make_interval(secs => $4::bigint / 1000.0)
            WHERE app = $1 AND lease = $5 RETURNING app
            """,
            [
                .text(app.rawValue), .ints(events.map(\.at)), .texts(events.map(\.id)), .int(lease.milliseconds),
                .text(process),
            ])
        return !rows.isEmpty
    }

    /// Ends the lease.
    package func release(_ app: AppID) async throws(PostgresError) {
        try await pool.query(
            "UPDATE webhooks SET lease = NULL, lease_until = NULL WHERE app = $1 AND lease = $2",
            [.text(app.rawValue), .text(process)])
    }

    /// Notes a failed request, ends the lease, and makes dead letters of events that have waited too long.
    /// - Parameters:
    ///   - pause: the time until the next request.
    ///   - longest: how long an event waits at most.
    /// - Returns: the number of new dead letters.
    package func failed(
        _ app: AppID, _ error: String, pause: Duration, longest: Duration
    ) async throws(PostgresError) -> Int {
        let rows = try await pool.query(
            """
            WITH hook AS (
                UPDATE webhooks SET attempts = attempts + 1, failing_since = coalesce(failing_since, now()), last_error = $2,
                    next_attempt_at = now() + make_interval(secs => $3::bigint / 1000.0), lease = NULL, lease_until = NULL
                WHERE app = $1 AND lease = $4 RETURNING app
            ), old AS (
                DELETE FROM webhook_events e USING hook
                WHERE e.app = hook.app AND e.queued_at < now() - make_interval(secs => $5::bigint / 1000.0)
                RETURNING e.app, e.at, e.id, e.kind, e.body, e.queued_at
            ), dead AS (
                INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error)
                SELECT app, at, id, kind, body, queued_at, $2 FROM old ON CONFLICT DO NOTHING
            )
            SELECT count(*) AS dead FROM old
            """,
            [
                .text(app.rawValue), .text(error), .int(pause.milliseconds), .text(process), .int(longest.milliseconds),
            ])
        return Int(try rows.first?.int64("dead") ?? 0)
    }

    /// What waits, for each webhook.
    package func backlogs() async throws(PostgresError) -> [Backlog] {
        var backlogs: [Backlog] = []
        let rows = try await pool.query(
            """
            SELECT app, events, coalesce((extract(epoch FROM now() - oldest) * 1000)::bigint, 0) AS oldest FROM webhook_backlog
            """)
        for row in rows {
            backlogs.append(
                Backlog(
                    app: try row.string("app"), events: try row.int64("events"),
                    oldest: Double(try row.int64("oldest")) / 1000))
        }
        return backlogs
    }

    /// Makes dead letters of an app's oldest events.
    /// - Parameter kept: how many of the latest stay.
    /// - Returns: the number of new dead letters.
    package func shed(_ app: String, keeping kept: Int) async throws(PostgresError) -> Int {
        let rows = try await pool.query(
            """
            WITH old AS (
                DELETE FROM webhook_events e USING (
                    SELECT at, id FROM webhook_events WHERE app = $1 ORDER BY at DESC, id DESC OFFSET $2 LIMIT 10000) x
                WHERE e.app = $1 AND e.at = x.at AND e.id = x.id
                RETURNING e.app, e.at, e.id, e.kind, e.body, e.queued_at
            ), dead AS (
                INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, error)
                SELECT app, at, id, kind, body, queued_at, 'more events waited than may' FROM old ON CONFLICT DO NOTHING
            )
            SELECT count(*) AS dead FROM old
            """, [.text(app), .int(Int64(kept))])
        return Int(try rows.first?.int64("dead") ?? 0)
    }

    /// Deletes dead letters that are too old or too many, at most 10,000 of each app.
    /// - Parameters:
    ///   - age: how long they are kept.
    ///   - kept: how many of an app's latest are kept.
    /// - Returns: the number of deleted ones.
    package func buryDead(olderThan age: Duration, keeping kept: Int) async throws(PostgresError) -> Int {
        let old = try await pool.query(
            """
            DELETE FROM webhook_dead WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM webhook_dead WHERE died_at < now() - make_interval(secs => $1::bigint / 1000.0)
                ORDER BY died_at LIMIT 10000))
            """, [.int(age.milliseconds)]
        ).affected
        let many = try await pool.query(
            """
            DELETE FROM webhook_dead d USING (
                SELECT x.app, x.at, x.id FROM (SELECT DISTINCT app FROM webhook_dead) a
                CROSS JOIN LATERAL (
                    SELECT app, at, id FROM webhook_dead w WHERE w.app = a.app ORDER BY at DESC, id DESC OFFSET $1 LIMIT 10000) x) y
            WHERE d.app = y.app AND d.at = y.at AND d.id = y.id
            """, [.int(Int64(kept))]
        ).affected
        return old + many
    }
}
