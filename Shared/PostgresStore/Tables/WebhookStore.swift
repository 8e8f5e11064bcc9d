package import BusProtocol
internal import Pacing
package import SignalingProtocol

/// Where an app's events are sent by HTTP: one of several places.
package struct Webhook: Equatable, Sendable {
    /// The number of events in one request at most.
    package static let batches = 1...1000
    /// The bytes of a secret.
    package static let secretBytes = 16...128

    /// Which one of which app.
    package var key: WebhookKey
    /// Where events are posted to.
    package var url: WebhookURL
    /// Signs the requests.
    package var secret: String
    /// The secret before, which signs the requests too for some time after it was replaced; nil when none does.
    package var formerSecret: String?
    /// The kinds of events that are sent.
    package var kinds: Set<WebhookKind>
    /// How many events one request has at most; default 100.
    package var batch = 100
    /// Which networks besides the Internet the URL may lead into; by default none.
    package var allowed: AllowedNetworks = []
    /// Whether events about messages have their texts; default false.
    package var messageText = false

    /// Creates a webhook for events of the ``WebhookKind/standard`` kinds.
    package init(_ key: WebhookKey, url: WebhookURL, secret: String) {
        self.key = key
        self.url = url
        self.secret = secret
        kinds = WebhookKind.standard
    }

    /// The secrets that sign a request, the newest first.
    package var secrets: [String] { [secret] + (formerSecret.map { [$0] } ?? []) }
}

/// A webhook and how its deliveries are going.
package struct WebhookRecord: Equatable, Sendable {
    /// The webhook.
    package var webhook: Webhook
    /// Until when the secret before signs too, in Unix milliseconds; nil when it does not.
    package var formerSecretUntil: Int64?
    /// The number of events that wait.
    package var events: Int64
    /// How long the oldest of them has been waiting, in seconds; nil when none does.
    package var oldest: Int64?
    /// The number of dead letters.
    package var dead: Int64
    /// Requests that have failed since the last success.
    package var attempts: Int64
    /// When the first of these requests failed, in Unix milliseconds; nil while requests succeed.
    package var failingSince: Int64?
    /// Why the last of them failed.
    package var lastError: String?
    /// When a request last succeeded, in Unix milliseconds.
    package var deliveredAt: Int64?
}

/// How a webhook is doing, for those who watch all of them.
package struct WebhookStanding: Equatable, Sendable {
    /// Which one of which app.
    package var key: WebhookKey
    /// How long the oldest event has been waiting, in seconds; nil when none does.
    package var oldest: Int64?
    /// The number of dead letters, of which ``WebhookStore/countedLetters`` are counted at most.
    package var dead: Int64
    /// Requests that have failed since the last success.
    package var attempts: Int64
    /// For how long requests have been failing, in seconds; nil while they succeed.
    package var failing: Int64?
    /// Why the last request failed; nil while requests succeed.
    package var lastError: String?
}

/// A request that was made to a receiver.
package struct WebhookDelivery: Equatable, Sendable {
    /// When it began, in Unix milliseconds.
    package var at: Int64
    /// How many events it had.
    package var events: Int64
    /// 1 for the first request with these events, 2 for its first repetition ...
    package var attempt: Int64
    /// The status of the answer; nil without one.
    package var status: Int64?
    /// Why the events were not taken; nil when they were.
    package var error: String?
    /// From the look-up of the receiver's name to the end of its answer, in milliseconds.
    package var duration: Int64
}

/// An event that could not be delivered.
package struct DeadLetter: Equatable, Sendable {
    /// The event's id.
    package var id: String
    /// What has happened.
    package var kind: String
    /// When, in Unix milliseconds.
    package var happenedAt: Int64
    /// When it was given up, in Unix milliseconds.
    package var diedAt: Int64
    /// Why.
    package var error: String
    /// The event as it would be sent.
    package var body: String
}

/// The table `webhooks`, as administrators use it. Every method throws ``PostgresError``.
package struct WebhookStore: Sendable {
    private let pool: any PostgresSession

    /// Works on the database of `pool`, or in a transaction.
    package init(pool: any PostgresSession) { self.pool = pool }

    /// How long a secret that was replaced signs too, unless the operator says otherwise: time for receivers to follow.
    package static let standardOverlap = Duration.seconds(86_400)
    /// What the operator may say: a secret that has got lost must end.
    package static let longestOverlap = Duration.seconds(7 * 86_400)

    /// Sets a webhook. What waits is sent to the new URL, at once.
    /// - Parameter overlap: how long the secret before signs too when this one differs; zero: not at all.
    /// - Returns: false when the app does not exist.
    package func set(
        _ webhook: Webhook, overlap: Duration = Self.standardOverlap
    ) async throws(PostgresError) -> Bool {
        try await pool.query(
            """
            INSERT INTO webhooks AS w (app, name, url, secret, kinds, batch, allow_private, allow_loopback, message_text)
            SELECT $1, $2, $3, $4, $5::text[], $6::bigint::integer, $7, $8, $9
            WHERE EXISTS (SELECT FROM apps WHERE id = $1)
            ON CONFLICT (app, name) DO UPDATE SET url = EXCLUDED.url, secret = EXCLUDED.secret, kinds = EXCLUDED.kinds,
                former_secret = CASE
                    WHEN w.secret = EXCLUDED.secret THEN w.former_secret WHEN $10::bigint > 0 THEN w.secret END,
                former_secret_until = CASE
                    WHEN w.secret = EXCLUDED.secret THEN w.former_secret_until
                    WHEN $10::bigint > 0 THEN now() + make_interval(secs => $10::bigint / 1000.0) END,
                batch = EXCLUDED.batch, allow_private = EXCLUDED.allow_private, allow_loopback = EXCLUDED.allow_loopback,
                message_text = EXCLUDED.message_text, next_attempt_at = now()
            """,
            webhook.key.parameters + [
                .text(webhook.url.text), .text(webhook.secret),
                .texts(webhook.kinds.map(\.rawValue).sorted()), .int(Int64(webhook.batch)),
                .bool(webhook.allowed.contains(.privateOnes)), .bool(webhook.allowed.contains(.loopback)),
                .bool(webhook.messageText), .int(overlap.millisecondsRoundedUp),
            ]
        ).affected == 1
    }

    /// Keeps others from changing apps' webhooks until the transaction ends.
    package func lock(_ apps: [AppID]) async throws(PostgresError) {
        try await pool.query(
            "SELECT FROM webhooks WHERE app = ANY ($1::text[]) ORDER BY app, name FOR NO KEY UPDATE",
            [.texts(apps.map(\.rawValue))])
    }

    /// Replaces a webhook's secret. Of secrets before, only the latest signs on.
    /// - Parameter overlap: how long the secret before signs too; zero: not at all.
    /// - Returns: false when there is no such webhook, or it has this secret already.
    package func rotate(
        _ key: WebhookKey, to secret: String, overlap: Duration
    ) async throws(PostgresError) -> Bool {
        try await pool.query(
            """
            UPDATE webhooks SET secret = $3, former_secret = CASE WHEN $4::bigint > 0 THEN secret END,
                former_secret_until = CASE WHEN $4::bigint > 0 THEN now() + make_interval(secs => $4::bigint / 1000.0) END
            WHERE app = $1 AND name = $2 AND secret <> $3
            """, key.parameters + [.text(secret), .int(overlap.millisecondsRoundedUp)]
        ).affected == 1
    }

    /// Ends the time of the secret before.
    /// - Returns: false when there is no such webhook, or no secret before signs.
    package func endRotation(_ key: WebhookKey) async throws(PostgresError) -> Bool {
        try await pool.query(
            """
            UPDATE webhooks SET former_secret = NULL, former_secret_until = NULL
            WHERE app = $1 AND name = $2 AND former_secret_until > now()
            """, key.parameters
        ).affected == 1
    }

    /// All webhooks by app and name, or those of one.
    package func list(app: AppID? = nil) async throws(PostgresError) -> [WebhookRecord] {
        var records: [WebhookRecord] = []
        let rows = try await pool.query(
            """
            SELECT w.app, w.name, w.url, w.secret,
                CASE WHEN w.former_secret_until > now() THEN w.former_secret END AS former_secret,
                CASE WHEN w.former_secret_until > now() THEN (extract(epoch FROM w.former_secret_until) * 1000)::bigint END
                    AS former_until,
                array_to_string(w.kinds, ' ') AS kinds, w.batch, w.allow_private,
                w.allow_loopback, w.message_text, b.events, extract(epoch FROM now() - b.oldest)::bigint AS oldest, b.dead, w.attempts,
                (extract(epoch FROM w.failing_since) * 1000)::bigint AS failing, w.last_error,
                (extract(epoch FROM w.delivered_at) * 1000)::bigint AS delivered
            FROM webhooks w JOIN webhook_backlog b ON b.app = w.app AND b.webhook = w.name
            WHERE $1::text IS NULL OR w.app = $1 ORDER BY w.app, w.name
            """, [.optional(app?.rawValue)])
        for row in rows {
            records.append(
                WebhookRecord(
                    webhook: try Webhook(row), formerSecretUntil: try row.optionalInt64("former_until"),
                    events: try row.int64("events"), oldest: try row.optionalInt64("oldest"),
                    dead: try row.int64("dead"), attempts: try row.int64("attempts"),
                    failingSince: try row.optionalInt64("failing"), lastError: try row.optionalString("last_error"),
                    deliveredAt: try row.optionalInt64("delivered")))
        }
        return records
    }

    /// How many dead letters of a webhook are counted at most for its standing.
    package static let countedLetters: Int64 = 1000

    /// How all webhooks are doing. Takes the same time however much waits.
    package func standings() async throws(PostgresError) -> [WebhookStanding] {
        let rows = try await pool.query(
            """
            SELECT w.app, w.name, w.attempts, extract(epoch FROM now() - w.failing_since)::bigint AS failing, w.last_error,
                extract(epoch FROM now() - e.oldest)::bigint AS oldest, d.dead FROM webhooks w
            CROSS JOIN LATERAL (
                SELECT min(q.queued_at) AS oldest FROM webhook_events q WHERE q.app = w.app AND q.webhook = w.name) e
            CROSS JOIN LATERAL (SELECT count(*) AS dead FROM (
                SELECT FROM webhook_dead q WHERE q.app = w.app AND q.webhook = w.name LIMIT $1) counted) d
            ORDER BY w.app, w.name
            """, [.int(Self.countedLetters)])
        var standings: [WebhookStanding] = []
        for row in rows {
            guard let key = WebhookKey.usable(row) else { continue }
            standings.append(
                WebhookStanding(
                    key: key, oldest: try row.optionalInt64("oldest"), dead: try row.int64("dead"),
                    attempts: try row.int64("attempts"), failing: try row.optionalInt64("failing"),
                    lastError: try row.optionalString("last_error")))
        }
        return standings
    }

    /// Removes a webhook and what waits for it; dead letters stay. What waits is removed in portions, because
    /// all of it at once can exceed the time limit of a statement. Meanwhile nothing is sent; when the removal
    /// fails, that goes on after a minute.
    /// - Parameters: see ``AppStore/remove(_:by:until:)``.
    /// - Returns: false when there is none.
    package func remove(
        _ key: WebhookKey, by cause: AuditCause? = nil, until end: ContinuousClock.Instant? = nil
    ) async throws(PostgresError) -> Bool {
        var removed: Int64
        repeat {
            let rows = try await pool.query(
                """
                WITH hook AS (
                    UPDATE webhooks SET next_attempt_at = now() + interval '1 minute' WHERE app = $1 AND name = $2
                ), gone AS (
                    DELETE FROM webhook_events WHERE ctid = ANY (ARRAY(
                        SELECT ctid FROM webhook_events WHERE app = $1 AND webhook = $2 LIMIT $3 FOR UPDATE SKIP LOCKED))
                    RETURNING app
                )
                SELECT count(*) AS gone FROM gone
                """, key.parameters + [.int(Int64(WebhookQueue.portion))])
            removed = try rows.first?.int64("gone") ?? 0
            if removed > 0 { try PostgresError.check(end) }
        } while removed > 0
        return try await pool.query(
            "WITH \(AuditCause.setting("$3")) DELETE FROM webhooks USING cause WHERE app = $1 AND name = $2",
            key.parameters + [.optional(cause?.text)]
        ).affected == 1
    }

    /// Removes all webhooks of an app, as ``remove(_:by:until:)`` each.
    func removeAll(
        of app: AppID, by cause: AuditCause? = nil, until end: ContinuousClock.Instant? = nil
    ) async throws(PostgresError) {
        let rows = try await pool.query("SELECT app, name FROM webhooks WHERE app = $1", [.text(app.rawValue)])
        for row in rows { _ = try await remove(try WebhookKey(row), by: cause, until: end) }
    }

    /// The latest requests to a webhook's receiver, the latest first.
    /// - Parameter failed: only those that have failed.
    package func deliveries(
        _ key: WebhookKey, failed: Bool, limit: Int
    ) async throws(PostgresError) -> [WebhookDelivery] {
        let rows = try await pool.query(
            """
            SELECT (extract(epoch FROM at) * 1000)::bigint AS at, events, attempt, status, error, duration_ms
            FROM webhook_requests WHERE app = $1 AND webhook = $2 AND (NOT $3::boolean OR error IS NOT NULL)
            ORDER BY id DESC LIMIT $4
            """, key.parameters + [.bool(failed), .int(Int64(limit))])
        var deliveries: [WebhookDelivery] = []
        for row in rows {
            deliveries.append(
                WebhookDelivery(
                    at: try row.int64("at"), events: try row.int64("events"), attempt: try row.int64("attempt"),
                    status: try row.optionalInt64("status"), error: try row.optionalString("error"),
                    duration: try row.int64("duration_ms")))
        }
        return deliveries
    }

    /// A webhook's dead letters, the oldest first. They may be those of one that was removed.
    package func dead(_ key: WebhookKey, limit: Int) async throws(PostgresError) -> [DeadLetter] {
        let rows = try await pool.query(
            """
            SELECT id, kind, at / 1000 AS at, (extract(epoch FROM died_at) * 1000)::bigint AS died, error, body
            FROM webhook_dead d WHERE app = $1 AND webhook = $2 ORDER BY d.at, d.id LIMIT $3
            """, key.parameters + [.int(Int64(limit))])
        var letters: [DeadLetter] = []
        for row in rows {
            letters.append(
                DeadLetter(
                    id: try row.string("id"), kind: try row.string("kind"), happenedAt: try row.int64("at"),
                    diedAt: try row.int64("died"), error: try row.string("error"), body: try row.string("body")))
        }
        return letters
    }

    /// Queues dead letters again, the oldest first, for another day of attempts that begins at once.
    /// - Parameters:
    ///   - id: only this one; nil for all.
    ///   - died: only those that were given up at these times, in Unix seconds.
    ///   - limit: the number to queue.
    /// - Returns: how many were queued. Nil when there is no such webhook.
    package func replay(
        _ key: WebhookKey, id: String?, died: Range<Int64>, limit: Int
    ) async throws(PostgresError) -> Int? {
        let rows = try await pool.query(
            """
            WITH hook AS (
                UPDATE webhooks SET next_attempt_at = now() WHERE app = $1 AND name = $2 RETURNING app, name
            ), letters AS (
                DELETE FROM webhook_dead d USING hook
                WHERE d.app = hook.app AND d.webhook = hook.name AND (d.at, d.id) IN (
                    SELECT at, id FROM webhook_dead
                    WHERE app = $1 AND webhook = $2 AND ($3::text IS NULL OR id = $3)
                        AND died_at >= to_timestamp($4::bigint) AND died_at < to_timestamp($5::bigint)
                    ORDER BY at, id LIMIT $6)
                RETURNING d.app, d.webhook, d.at, d.id, d.kind, d.body
            ), queued AS (
                INSERT INTO webhook_events (app, webhook, at, id, kind, body)
                SELECT app, webhook, at, id, kind, body FROM letters ON CONFLICT DO NOTHING
            )
            SELECT (SELECT count(*) FROM hook) AS hooks, (SELECT count(*) FROM letters) AS letters
            """,
            key.parameters + [.optional(id), .int(died.lowerBound), .int(died.upperBound), .int(Int64(limit))])
        guard let row = rows.first, try row.int64("hooks") == 1 else { return nil }
        return Int(try row.int64("letters"))
    }
}

extension Webhook {
    /// Reads a row of the table.
    init(_ row: PostgresRow) throws(PostgresError) {
        guard let url = WebhookURL(try row.string("url")) else {
            throw PostgresError(.shape, "the table webhooks contains an invalid URL")
        }
        self.init(try WebhookKey(row), url: url, secret: try row.string("secret"))
        formerSecret = try row.optionalString("former_secret")
        kinds = Set(try row.string("kinds").split(separator: " ").compactMap { WebhookKind(rawValue: String($0)) })
        batch = Int(try row.int64("batch"))
        allowed = try AllowedNetworks(row, private: "allow_private", loopback: "allow_loopback")
        messageText = try row.bool("message_text")
    }
}

extension WebhookKey {
    /// Reads two columns of the table.
    init(_ row: PostgresRow) throws(PostgresError) {
        guard let app = try? AppID(try row.string("app")), let name = WebhookName(try row.string("name")) else {
            throw PostgresError(.shape, "the table webhooks contains an invalid app or name")
        }
        self.init(app: app, name: name)
    }

    /// Reads them for a list of all: nil for an app that was made by SQL with an invalid id, which holds up no others.
    static func usable(_ row: PostgresRow) -> WebhookKey? { try? WebhookKey(row) }

    /// The first two parameters of statements about one webhook.
    var parameters: [PostgresParameter] { [.text(app.rawValue), .text(name.rawValue)] }
}

extension AllowedNetworks {
    /// Reads two columns.
    init(_ row: PostgresRow, private privateColumn: String, loopback: String) throws(PostgresError) {
        self = []
        if try row.bool(privateColumn) { insert(.privateOnes) }
        if try row.bool(loopback) { insert(.loopback) }
    }
}
