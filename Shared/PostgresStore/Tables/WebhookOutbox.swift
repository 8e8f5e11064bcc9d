package import BusProtocol
package import Logging
internal import ServiceMetrics
internal import SignalingProtocol

/// Queues events for webhooks, in the table `webhook_events`; the program `webhooks` delivers them.
///
/// That program also keeps the table small, by making dead letters of what is too much. When it does not run, nobody
/// does; so a webhook has room for twice what it may keep waiting, and what comes beyond is not queued.
package actor WebhookOutbox {
    /// How many events of a webhook wait at most, unless the operator says otherwise.
    package static let standardBacklog = 1_000_000
    /// What the operator may say.
    package static let backlogs = 1...100_000_000

    /// How long it is remembered which webhooks want which events, and that there is no room.
    private static let freshness = Duration.seconds(1)
    /// How long it is remembered how much room there is: other processes queue events, too.
    private static let countFreshness = Duration.seconds(10)
    /// The pause between two log lines about a webhook.
    private static let silence = Duration.seconds(60)

    /// What a webhook tells.
    private struct Wish {
        var key: WebhookKey
        var kinds: Set<WebhookKind>
        /// Whether with the texts of messages.
        var messageText: Bool

        /// The event as the webhook tells it; nil when it does not. A gateway learns a few seconds late that texts are
        /// no longer wanted.
        func told(_ event: WebhookEvent) -> Told? {
            guard kinds.contains(event.kind) else { return nil }
            return Told(key: key, event: messageText ? event : event.withoutText)
        }
    }

    /// An event that one webhook tells.
    private struct Told {
        var key: WebhookKey
        var event: WebhookEvent
    }

    /// How many events may still be queued for a webhook.
    private struct Room {
        var events: Int
        /// Whether there was none when what waits was counted.
        var wasNone: Bool
        var countedAt: ContinuousClock.Instant
        /// When it was logged that there is none.
        var toldAt: ContinuousClock.Instant?
    }

    private static let refused = Counter(
        "heliograph_webhook_events_refused_total",
        "Events that were not queued for a webhook, because too many wait for it.")

    private let pool: PostgresPool
    private let bound: Int
    private let logger: Logger
    private var wanted: [AppID: [Wish]] = [:]
    private var readAt: ContinuousClock.Instant?
    private var rooms: [WebhookKey: Room] = [:]

    /// Works on the database of `pool`.
    /// - Parameter backlog: how many events of a webhook the program `webhooks` keeps waiting.
    package init(pool: PostgresPool, backlog: Int, logger: Logger) {
        self.pool = pool
        bound = 2 * backlog
        self.logger = logger
        // Shown from the start.
        Self.refused.increment(by: 0)
    }

    /// Queues those events that their apps want and for which there is room: for each webhook that tells it, an event
    /// is queued by itself. An event that is added again is queued once, unless it has been delivered meanwhile.
    /// - Throws: ``PostgresError``.
    package func add(_ events: [WebhookEvent], now: ContinuousClock.Instant = .now) async throws(PostgresError) {
        if events.isEmpty { return }
        try await readWanted(now)
        let queued = try await admitted(
            events.flatMap { event in wanted[event.app, default: []].compactMap { $0.told(event) } }, now)
        if queued.isEmpty { return }
        try await pool.query(
            """
            INSERT INTO webhook_events (app, webhook, at, id, kind, body)
            SELECT i.app, i.webhook, i.at, i.id, i.kind, i.body
            FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[])
                AS i(app, webhook, at, id, kind, body)
            JOIN webhooks w ON w.app = i.app COLLATE "C" AND w.name = i.webhook COLLATE "C" AND i.kind = ANY (w.kinds)
            ON CONFLICT DO NOTHING
            """,
            [
                .texts(queued.map(\.key.app.rawValue)), .texts(queued.map(\.key.name.rawValue)),
                .ints(queued.map(\.event.microseconds)), .texts(queued.map(\.event.id)),
                .texts(queued.map(\.event.kind.rawValue)), .texts(queued.map(\.event.json)),
            ])
    }

    private func readWanted(_ now: ContinuousClock.Instant) async throws(PostgresError) {
        if let readAt, now - readAt < Self.freshness { return }
        var read: [Wish] = []
        let rows = try await pool.query(
            "SELECT app, name, array_to_string(kinds, ' ') AS kinds, message_text FROM webhooks")
        for row in rows {
            guard let key = WebhookKey.usable(row) else { continue }
            let kinds = try row.string("kinds").split(separator: " ").compactMap { WebhookKind(rawValue: String($0)) }
            read.append(Wish(key: key, kinds: Set(kinds), messageText: try row.bool("message_text")))
        }
        wanted = Dictionary(grouping: read, by: \.key.app)
        let keys = Set(read.map(\.key))
        rooms = rooms.filter { keys.contains($0.key) }
        readAt = now
    }

    /// The events for which there is room.
    private func admitted(
        _ events: [Told], _ now: ContinuousClock.Instant
    ) async throws(PostgresError) -> [Told] {
        let wanted = events.reduce(into: [WebhookKey: Int]()) { wanted, event in wanted[event.key, default: 0] += 1 }
        for (key, events) in wanted { try await findRoom(for: events, of: key, now) }
        var refused: [WebhookKey: Int] = [:]
        let admitted = events.filter { event in
            // A webhook without a count was removed meanwhile: the statement that queues finds none either.
            guard let room = rooms[event.key]?.events else { return true }
            guard room > 0 else {
                refused[event.key, default: 0] += 1
                return false
            }
            rooms[event.key]?.events = room - 1
            return true
        }
        for (key, events) in refused { tell(key, refused: events, now) }
        return admitted
    }

    /// Counts the events that wait for a webhook, up to the bound. A count that is fresh enough is used again,
    /// both when it shows enough room and when it shows none. An older one is not, because the webhooks program may
    /// have delivered events meanwhile.
    private func findRoom(
        for events: Int, of key: WebhookKey, _ now: ContinuousClock.Instant
    ) async throws(PostgresError) {
        let former = rooms[key]
        if let former {
            let age = now - former.countedAt
            if former.events >= events, age < Self.countFreshness { return }
            if former.wasNone, age < Self.freshness { return }
        }
        let rows = try await pool.query(
            """
            SELECT count(*) AS events FROM (SELECT FROM webhook_events WHERE app = $1 AND webhook = $2 LIMIT $3) waiting
            """, key.parameters + [.int(Int64(bound))])
        let waiting = Int(try rows.first?.int64("events") ?? 0)
        rooms[key] = Room(
            events: bound - waiting, wasNone: waiting == bound, countedAt: now, toldAt: former?.toldAt)
    }

    private func tell(_ key: WebhookKey, refused events: Int, _ now: ContinuousClock.Instant) {
        Self.refused.increment(by: events)
        if let toldAt = rooms[key]?.toldAt, now - toldAt < Self.silence { return }
        rooms[key]?.toldAt = now
        logger.warning(
            "events are not queued for a webhook: too many wait; does the program webhooks run?",
            metadata: ["webhook": "\(key)", "bound": "\(bound)", "events": "\(events)"])
    }
}
