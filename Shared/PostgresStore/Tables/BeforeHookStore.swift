package import BusProtocol
package import SignalingProtocol

/// An app's before-hook, and when it was set.
package struct BeforeHookRecord: Equatable, Sendable {
    /// The app.
    package var app: AppID
    /// Its hook.
    package var hook: BeforeHook
    /// When it was last set, in Unix milliseconds.
    package var setAt: Int64
}

/// The table `before_hooks`. Every method throws ``PostgresError``.
package struct BeforeHookStore: Sendable {
    /// The columns of a hook, in a query where the table is `h`.
    static let columns = """
        h.url AS hook_url, h.secret AS hook_secret, array_to_string(h.points, ' ') AS hook_points,
        h.deadline_ms AS hook_deadline, h.fail_open AS hook_open, h.requests AS hook_requests,
        h.allow_private AS hook_private, h.allow_loopback AS hook_loopback, h.refuse_busy AS hook_busy
        """

    private let pool: any PostgresSession

    /// Works on the database of `pool`, or in a transaction.
    package init(pool: any PostgresSession) { self.pool = pool }

    /// Sets an app's hook.
    /// - Returns: false when the app does not exist.
    package func set(_ hook: BeforeHook, of app: AppID) async throws(PostgresError) -> Bool {
        try await pool.query(
            """
            INSERT INTO before_hooks (
                app, url, secret, points, deadline_ms, fail_open, requests, allow_private, allow_loopback, refuse_busy)
            SELECT $1, $2, $3, $4::text[], $5::bigint::integer, $6, $7::bigint::integer, $8, $9, $10
            WHERE EXISTS (SELECT FROM apps WHERE id = $1)
            ON CONFLICT (app) DO UPDATE SET url = EXCLUDED.url, secret = EXCLUDED.secret, points = EXCLUDED.points,
                deadline_ms = EXCLUDED.deadline_ms, fail_open = EXCLUDED.fail_open, requests = EXCLUDED.requests,
                allow_private = EXCLUDED.allow_private, allow_loopback = EXCLUDED.allow_loopback,
                refuse_busy = EXCLUDED.refuse_busy, set_at = now()
            """,
            [
                .text(app.rawValue), .text(hook.url.text), .text(hook.secret),
                .texts(hook.points.points.map(\.rawValue)), .int(Int64(hook.deadline)), .bool(hook.failsOpen),
                .int(Int64(hook.requests)), .bool(hook.allowed.contains(.privateOnes)),
                .bool(hook.allowed.contains(.loopback)), .bool(hook.refusesBusy),
            ]
        ).affected == 1
    }

    /// All hooks by app, or that of one.
    package func list(app: AppID? = nil) async throws(PostgresError) -> [BeforeHookRecord] {
        let rows = try await pool.query(
            """
            SELECT h.app, \(Self.columns), (extract(epoch FROM h.set_at) * 1000)::bigint AS set_ms
            FROM before_hooks h WHERE $1::text IS NULL OR h.app = $1 ORDER BY h.app
            """, [.optional(app?.rawValue)])
        var records: [BeforeHookRecord] = []
        for row in rows {
            guard let app = try? AppID(try row.string("app")), let hook = try BeforeHook(row) else {
                throw PostgresError(.shape, "the table before_hooks contains an invalid app")
            }
            records.append(BeforeHookRecord(app: app, hook: hook, setAt: try row.int64("set_ms")))
        }
        return records
    }

    /// Removes an app's hook.
    /// - Returns: false when there is none.
    package func remove(_ app: AppID) async throws(PostgresError) -> Bool {
        try await pool.query("DELETE FROM before_hooks WHERE app = $1", [.text(app.rawValue)]).affected == 1
    }
}

extension BeforeHook {
    /// Reads the columns of ``BeforeHookStore``; nil when they are NULL, because there is no hook.
    init?(_ row: PostgresRow) throws(PostgresError) {
        guard let text = try row.optionalString("hook_url") else { return nil }
        guard let url = WebhookURL(text) else {
            throw PostgresError(.shape, "the table before_hooks contains an invalid URL")
        }
        self.init(
            url: url, secret: try row.string("hook_secret"), points: HookPoints(text: try row.string("hook_points")))
        deadline = Int(try row.int64("hook_deadline"))
        failsOpen = try row.bool("hook_open")
        requests = Int(try row.int64("hook_requests"))
        allowed = try AllowedNetworks(row, private: "hook_private", loopback: "hook_loopback")
        refusesBusy = try row.bool("hook_busy")
    }
}
