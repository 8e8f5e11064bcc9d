package import SignalingProtocol
internal import SignalingWire

/// Queues events for webhooks, in the table `webhook_events`; the program `webhooks` delivers them.
package actor WebhookOutbox {
    /// How long it is remembered which apps want which events.
    private static let freshness = Duration.seconds(1)

    private let pool: PostgresPool
    private var wanted: [AppID: Set<WebhookKind>] = [:]
    private var readAt: ContinuousClock.Instant?

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Queues those events that their apps want. An event that is added again is queued once, unless it has been delivered
    /// meanwhile.
    /// - Throws: ``PostgresError``.
    package func add(_ events: [WebhookEvent]) async throws(PostgresError) {
        if events.isEmpty { return }
        try await readWanted()
        let queued = events.filter { wanted[$0.app]?.contains($0.kind) == true }
        if queued.isEmpty { return }
        try await pool.query(
            """
            INSERT INTO webhook_events (app, at, id, kind, body)
            SELECT i.app, i.at, i.id, i.kind, i.body
            FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[]) AS i(app, at, id, kind, body)
            JOIN webhooks w ON w.app = i.app COLLATE "C" AND i.kind = ANY (w.kinds)
            ON CONFLICT DO NOTHING
            """,
            [
                .texts(queued.map(\.app.rawValue)), .ints(queued.map(\.microseconds)), .texts(queued.map(\.id)),
                .texts(queued.map(\.kind.rawValue)), .texts(queued.map(\.json)),
            ])
    }

    private func readWanted() async throws(PostgresError) {
        if let readAt, ContinuousClock.now - readAt < Self.freshness { return }
        let now = ContinuousClock.now
        var read: [AppID: Set<WebhookKind>] = [:]
        for row in try await pool.query("SELECT app, array_to_string(kinds, ' ') AS kinds FROM webhooks") {
            guard let app = try? AppID(try row.string("app")) else { continue }
            read[app] = Set(
                try row.string("kinds").split(separator: " ").compactMap { WebhookKind(rawValue: String($0)) })
        }
        wanted = read
        readAt = now
    }
}
