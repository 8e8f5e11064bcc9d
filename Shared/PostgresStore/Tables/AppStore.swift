package import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// An app: a tenant of the cluster.
package struct AppRecord: Equatable, Sendable {
    package var id: AppID
    /// The secret that signs the app's tokens. Never logged.
    package var certificate: String
    /// Whether a login needs a token; false for test environments.
    package var tokenRequired: Bool
    /// Limits that apply to the app's users.
    package var limits: AppLimits
    /// When it was created, Unix milliseconds.
    package var createdAt: Int64

    package init(
        id: AppID, certificate: String, tokenRequired: Bool, limits: AppLimits = AppLimits(), createdAt: Int64
    ) {
        self.id = id
        self.certificate = certificate
        self.tokenRequired = tokenRequired
        self.limits = limits
        self.createdAt = createdAt
    }
}

/// The table `apps`. Every method throws ``PostgresError``.
package struct AppStore: Sendable {
    private static let columns = """
        id, certificate, token_required, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms,
        \(AppLimits.all.map(column).joined(separator: ", ")),
        (limits ->> 'specialChannels') IS DISTINCT FROM 'closed' AS special_channels_open,
        coalesce(limits ->> 'messageEvents', '') AS message_events
        """

    /// SQL for one limit: the default when the stored value is missing or not a number (for
    /// example after an edit by hand).
    private static func column(_ limit: AppLimit) -> String {
        """
        CASE jsonb_typeof(limits -> '\(limit.name)') WHEN 'number' THEN (limits ->> '\(limit.name)')::bigint
        ELSE \(limit.standard) END AS "\(limit.name)"
        """
    }

    private let pool: any PostgresSession

    /// Works on the database of `pool`, or in a transaction.
    package init(pool: any PostgresSession) { self.pool = pool }

    /// One app; nil when it does not exist.
    package func find(_ id: AppID) async throws(PostgresError) -> AppRecord? {
        try Self.record(
            try await pool.query(
                "SELECT \(Self.columns) FROM apps WHERE id = $1", [.text(id.rawValue)],
                within: pool.configuration.actTimeout
            ).first)
    }

    /// What gateways need of an app, with its hook, and how its webhooks tell of messages: with the texts when one of
    /// them does. Nil when it does not exist.
    package func settings(of id: AppID) async throws(PostgresError) -> AppSettings? {
        let row = try await pool.query(
            """
            SELECT \(Self.columns), \(BeforeHookStore.columns),
                (SELECT max(CASE WHEN w.message_text THEN 1 ELSE 0 END) FROM webhooks w
                WHERE w.app = apps.id AND '\(WebhookKind.message.rawValue)' = ANY (w.kinds)) AS message_text
            FROM apps LEFT JOIN before_hooks h ON h.app = apps.id WHERE id = $1
            """, [.text(id.rawValue)], within: pool.configuration.actTimeout
        ).first
        guard let row, let app = try Self.record(row) else { return nil }
        return AppSettings(
            certificate: app.certificate, tokenRequired: app.tokenRequired, limits: app.limits,
            hook: try BeforeHook(row),
            webhookMessages: try row.optionalInt64("message_text").map { $0 == 1 ? .withText : .withoutText })
    }

    /// The ids of all apps.
    package func ids() async throws(PostgresError) -> Set<AppID> {
        var ids: Set<AppID> = []
        for row in try await pool.query("SELECT id FROM apps") {
            guard let id = try? AppID(try row.string("id")) else {
                throw PostgresError(.shape, "the table apps contains an invalid app id")
            }
            ids.insert(id)
        }
        return ids
    }

    /// All apps, by id.
    package func list() async throws(PostgresError) -> [AppRecord] {
        var apps: [AppRecord] = []
        for row in try await pool.query("SELECT \(Self.columns) FROM apps ORDER BY id") {
            if let app = try Self.record(row) { apps.append(app) }
        }
        return apps
    }

    /// Creates an app.
    /// - Throws: an error with ``PostgresError/isDuplicate`` when the id is taken.
    @discardableResult
    package func create(
        id: AppID, certificate: String, tokenRequired: Bool, limits: AppLimits = AppLimits()
    ) async throws(PostgresError) -> AppRecord {
        let rows = try await pool.query(
            """
            INSERT INTO apps (id, certificate, token_required, limits)
            VALUES ($1, $2, $3, $4::jsonb) RETURNING \(Self.columns)
            """,
            [
                .text(id.rawValue), .text(certificate), .bool(tokenRequired),
                .text(Self.object(limits, changedFrom: AppLimits())),
            ])
        guard let app = try Self.record(rows.first) else { throw PostgresError(.shape, "INSERT returned no row") }
        return app
    }

    /// Replaces an app's certificate. Tokens signed with the old one are refused from the next login on.
    /// - Returns: false when the app does not exist.
    package func rotateCertificate(_ id: AppID, to certificate: String) async throws(PostgresError) -> Bool {
        try await pool.query(
            "UPDATE apps SET certificate = $2 WHERE id = $1", [.text(id.rawValue), .text(certificate)]
        ).affected == 1
    }

    /// Sets whether an app's logins need a token, effective for later logins.
    /// - Returns: false when the app does not exist.
    package func setTokenRequired(_ required: Bool, of id: AppID) async throws(PostgresError) -> Bool {
        try await pool.query(
            "UPDATE apps SET token_required = $2 WHERE id = $1", [.text(id.rawValue), .bool(required)]
        ).affected == 1
    }

    /// Changes an app's limits, effective for later logins and resumes.
    /// - Parameter change: sets the limits to change; the others keep their values.
    /// - Returns: the changed app; nil when it does not exist.
    package func changeLimits(
        of id: AppID, _ change: (inout AppLimits) -> Void
    ) async throws(PostgresError) -> AppRecord? {
        guard let app = try await find(id) else { return nil }
        var limits = app.limits
        change(&limits)
        return try Self.record(
            try await pool.query(
                "UPDATE apps SET limits = limits || $2::jsonb WHERE id = $1 RETURNING \(Self.columns)",
                [.text(id.rawValue), .text(Self.object(limits, changedFrom: app.limits))]
            ).first)
    }

    /// A JSON object of the limits that differ from `old`.
    private static func object(_ limits: AppLimits, changedFrom old: AppLimits) -> String {
        var members = AppLimits.all.filter { limits[$0] != old[$0] }
            .map { JSONMember($0.name, limits[$0]) }
        if limits.specialChannelsOpen != old.specialChannelsOpen {
            members.append(JSONMember("specialChannels", limits.specialChannelsOpen ? "open" : "closed"))
        }
        if limits.streamedMessages != old.streamedMessages {
            members.append(JSONMember("messageEvents", limits.streamedMessages?.rawValue ?? "none"))
        }
        return JSONValue.object(members).compactText
    }

    /// The number of rows that one statement deletes of a table at most, while an app is removed. It can be exceeded in
    /// tables that are divided by time, whose parts can have rows with the same `ctid`.
    package static let portion = 5000

    /// What an app has of its own, besides what refers to it in the schema. What triggers write when
    /// other rows are deleted comes last.
    private static let tables = [
        "users", "user_attribute_versions", "user_attributes", "channel_attribute_versions", "channel_attributes",
        "calls", "sip_numbers", "presence_sessions", "channel_members", "app_logins", "app_users", "waiting_mail",
        "attribute_history", "gateway_days", "app_days",
    ]

    /// Deletes an app together with its users, channels, calls, and what waits for its webhooks. The rows are deleted
    /// in portions, because all of them at once can exceed the time limit of a statement and hold up others; the app
    /// itself comes last. When that fails, or takes too long, the app is still there, with a part of its rows, and can
    /// be removed again.
    /// - Parameters:
    ///   - cause: nil for what the connection says (``PostgresConfiguration/cause``).
    ///   - end: when no further portion is begun, and the removal fails with `timeout`; nil for never.
    /// - Returns: false when the app does not exist.
    package func remove(
        _ id: AppID, by cause: AuditCause? = nil, until end: ContinuousClock.Instant? = nil
    ) async throws(PostgresError) -> Bool {
        guard try await find(id) != nil else { return false }
        try await WebhookStore(pool: pool).removeAll(of: id, by: cause, until: end)
        for table in ["webhook_dead", "user_bans"] + Self.tables {
            while try await emptyPortion(of: table, id, cause) > 0 { try PostgresError.check(end) }
        }
        // With what was written meanwhile.
        let parts = Self.tables.map { "\($0)_gone AS (DELETE FROM \($0) WHERE app = $1)" }.joined(separator: ", ")
        return try await pool.query(
            "WITH \(AuditCause.setting("$2")), \(parts) DELETE FROM apps USING cause WHERE id = $1",
            [.text(id.rawValue), .optional(cause?.text)]
        ).affected == 1
    }

    /// Deletes rows of an app but for those that others are just changing.
    /// - Returns: how many were deleted.
    private func emptyPortion(
        of table: String, _ id: AppID, _ cause: AuditCause?
    ) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            WITH \(AuditCause.setting("$3"))
            DELETE FROM \(table) t USING cause WHERE t.app = $1 AND t.ctid = ANY (ARRAY(
                SELECT ctid FROM \(table) WHERE app = $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
            """, [.text(id.rawValue), .int(Int64(Self.portion)), .optional(cause?.text)]
        ).affected
    }

    private static func record(_ row: PostgresRow?) throws(PostgresError) -> AppRecord? {
        guard let row else { return nil }
        let id = try row.string("id")
        var limits = AppLimits()
        for limit in AppLimits.all { limits[limit] = Int(try row.int64(limit.name)) }
        limits.specialChannelsOpen = try row.bool("special_channels_open")
        limits.streamedMessages = MessageDetail(rawValue: try row.string("message_events"))
        do {
            return AppRecord(
                id: try AppID(id), certificate: try row.string("certificate"),
                tokenRequired: try row.bool("token_required"),
                limits: limits, createdAt: try row.int64("created_ms"))
        } catch let error as PostgresError {
            throw error
        } catch {
            throw PostgresError(.shape, "the table apps contains an invalid app id")
        }
    }
}
