package import BusProtocol
internal import Pacing

/// The queue of events that are delivered by webhooks. Every method throws ``PostgresError``.
///
/// Each webhook has a queue, which a process leases while it sends, so that events are sent in order. The times are
/// PostgreSQL's.
package struct WebhookQueue: Sendable {
    /// A webhook's queue, leased by this process.
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

    /// A request that was made, for the log.
    package struct Exchange: Equatable, Sendable {
        /// The number of its events.
        package var events: Int
        /// The status of the answer; nil without one.
        package var status: Int?
        /// From the look-up of the receiver's name to the end of its answer.
        package var duration: Duration

        package init(events: Int, status: Int?, duration: Duration) {
            self.events = events
            self.status = status
            self.duration = duration
        }

        /// The parameters of ``WebhookQueue/noting(from:error:)``.
        fileprivate var parameters: [PostgresParameter] {
            [.int(Int64(events)), status.map { .int(Int64($0)) } ?? .null, .int(duration.wholeMilliseconds)]
        }
    }

    /// Which events may be sent: those that happened up to ``microseconds``, and those that have
    /// waited longer than ``patience``.
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

    let pool: PostgresPool
    let process: String

    /// Works on the database of `pool`.
    /// - Parameter process: names this process among all that send.
    package init(pool: PostgresPool, process: String) {
        self.pool = pool
        self.process = process
    }

    /// The webhook as a row of the table has it now.
    private static let columns = """
        app, name, url, secret, CASE WHEN former_secret_until > now() THEN former_secret END AS former_secret,
        array_to_string(kinds, ' ') AS kinds, batch, allow_private, allow_loopback, message_text
        """

    private static let isFree = "next_attempt_at <= now() AND (lease_until IS NULL OR lease_until < now())"

    /// Whether any queue is free and not empty.
    package func hasWork() async throws(PostgresError) -> Bool {
        let rows = try await pool.query(
            """
            SELECT EXISTS (
                SELECT FROM webhooks w
                WHERE \(Self.isFree) AND EXISTS (
                    SELECT FROM webhook_events e WHERE e.app = w.app AND e.webhook = w.name)) AS found
            """)
        return try rows.first?.bool("found") == true
    }

    /// Leases queues that are free and have events up to the horizon, first those that were served longest ago.
    /// - Parameters:
    ///   - limit: the number of queues at most.
    ///   - lease: how long nobody else takes them.
    package func claim(_ limit: Int, lease: Duration, _ horizon: Horizon) async throws(PostgresError) -> [Claim] {
        let rows = try await pool.query(
            """
            UPDATE webhooks SET lease = $1, lease_until = now() + make_interval(secs => $2::bigint / 1000.0)
            WHERE (app, name) IN (
                SELECT app, name FROM webhooks w
                WHERE \(Self.isFree) AND EXISTS (
                    SELECT FROM webhook_events e WHERE e.app = w.app AND e.webhook = w.name AND (
                        e.at <= $3 OR e.queued_at < now() - make_interval(secs => $4::bigint / 1000.0)))
                ORDER BY next_attempt_at LIMIT $5 FOR UPDATE SKIP LOCKED)
            RETURNING \(Self.columns), attempts
            """,
            [
                .text(process), .int(lease.millisecondsRoundedUp), .int(horizon.microseconds),
                .int(horizon.patience.millisecondsRoundedUp), .int(Int64(limit)),
            ])
        var claims: [Claim] = []
        for row in rows { claims.append(Claim(webhook: try Webhook(row), attempts: try row.int64("attempts"))) }
        return claims
    }

    /// The next events of a webhook, in order.
    package func next(_ key: WebhookKey, limit: Int, _ horizon: Horizon) async throws(PostgresError) -> [Event] {
        let rows = try await pool.query(
            """
            SELECT at, id, body FROM webhook_events
            WHERE app = $1 AND webhook = $2
                AND (at <= $3 OR queued_at < now() - make_interval(secs => $4::bigint / 1000.0))
            ORDER BY at, id LIMIT $5
            """,
            key.parameters + [
                .int(horizon.microseconds), .int(horizon.patience.millisecondsRoundedUp), .int(Int64(limit)),
            ])
        var events: [Event] = []
        for row in rows {
            events.append(Event(at: try row.int64("at"), id: try row.string("id"), body: try row.string("body")))
        }
        return events
    }

    /// The statement that notes a request, within the one that notes its outcome. The app is the first parameter, the
    /// webhook's name the second.
    /// - Parameters:
    ///   - place: of the three parameters of an ``Exchange``, the first.
    ///   - error: the SQL of why it has failed.
    private static func noting(from place: Int, error: String) -> String {
        """
        INSERT INTO webhook_requests (app, webhook, at, events, attempt, status, error, duration_ms)
        SELECT w.app, w.name, clock_timestamp() - make_interval(secs => $\(place + 2)::bigint / 1000.0), $\(place)::bigint,
            w.attempts + 1, $\(place + 1)::bigint, \(error), $\(place + 2)::bigint
        FROM webhooks w WHERE w.app = $1 AND w.name = $2
        """
    }

    /// Removes delivered events, notes the request, and renews the lease.
    /// - Returns: the webhook as it is set now; nil when the queue is no longer leased by this process.
    package func delivered(
        _ events: [Event], of key: WebhookKey, _ exchange: Exchange, lease: Duration
    ) async throws(PostgresError) -> Webhook? {
        let rows = try await pool.query(
            """
            WITH sent AS (
                DELETE FROM webhook_events e USING unnest($3::bigint[], $4::text[]) AS i(at, id)
                WHERE e.app = $1 AND e.webhook = $2 AND e.at = i.at AND e.id = i.id COLLATE "C"
            ), noted AS (\(Self.noting(from: 7, error: "NULL")))
            UPDATE webhooks SET attempts = 0, failing_since = NULL, last_error = NULL, delivered_at = now(),
                lease_until = now() + make_interval(secs => $5::bigint / 1000.0)
            WHERE app = $1 AND name = $2 AND lease = $6
            RETURNING \(Self.columns)
            """,
            key.parameters + [
                .ints(events.map(\.at)), .texts(events.map(\.id)), .int(lease.millisecondsRoundedUp), .text(process),
            ] + exchange.parameters)
        return try rows.first.map { row throws(PostgresError) in try Webhook(row) }
    }

    /// Ends the lease. The queue is then the last of those that are due.
    package func release(_ key: WebhookKey) async throws(PostgresError) {
        try await pool.query(
            """
            UPDATE webhooks SET lease = NULL, lease_until = NULL, next_attempt_at = greatest(next_attempt_at, now())
            WHERE app = $1 AND name = $2 AND lease = $3
            """, key.parameters + [.text(process)])
    }

    /// Notes a failed request and renews the lease. It counts as a failure of the webhook unless the URL or the secret
    /// has been set anew meanwhile.
    /// - Parameters:
    ///   - webhook: as it was when the request was made.
    ///   - pause: the time until the next request.
    package func failed(
        _ webhook: Webhook, _ error: String, _ exchange: Exchange, pause: Duration, lease: Duration
    ) async throws(PostgresError) {
        try await pool.query(
            """
            WITH noted AS (\(Self.noting(from: 9, error: "$3")))
            UPDATE webhooks SET attempts = attempts + 1, failing_since = coalesce(failing_since, now()), last_error = $3,
                next_attempt_at = now() + make_interval(secs => $4::bigint / 1000.0),
                lease_until = now() + make_interval(secs => $5::bigint / 1000.0)
            WHERE app = $1 AND name = $2 AND lease = $6 AND url = $7 AND secret = $8
            """,
            webhook.key.parameters + [
                .text(error), .int(pause.millisecondsRoundedUp), .int(lease.millisecondsRoundedUp),
                .text(process), .text(webhook.url.text), .text(webhook.secret),
            ] + exchange.parameters)
    }
}
