internal import Pacing
package import SignalingProtocol

/// How a sip-bridge is registered at a trunk's registrar.
package struct SIPRegistration: Equatable, Sendable {
    /// In words of the table.
    package enum State: String, Sendable, CaseIterable {
        /// Calls can arrive.
        case registered
        /// The registrar did not register it.
        case refused
        /// The registrar did not answer.
        case unanswered
    }

    /// The app whose trunk it is.
    package var app: AppID
    /// The sip-bridge: a run of it, as its `/healthz` names it.
    package var bridge: String
    /// How it stands.
    package var state: State
    /// The status of the registrar's response, when it has refused.
    package var status: Int64?
    /// Since when it has stood so, in Unix milliseconds.
    package var since: Int64
    /// Until when the binding exists, in Unix milliseconds; nil without one.
    package var until: Int64?
}

/// What a sip-bridge tells of a registration.
package struct RegistrationNote: Equatable, Sendable {
    /// The app whose trunk it is.
    package var app: AppID
    /// How it stands.
    package var state: SIPRegistration.State
    /// The status of the registrar's response, when it has refused.
    package var status: Int?
    /// How long this holds, unless the bridge tells more.
    package var remaining: Duration

    package init(app: AppID, state: SIPRegistration.State, status: Int?, remaining: Duration) {
        self.app = app
        self.state = state
        self.status = status
        self.remaining = remaining
    }
}

/// The table `sip_registrations`. Every method throws ``PostgresError``.
package struct RegistrationStore: Sendable {
    /// The number of apps of which a bridge tells at once.
    package static let portion = 1000
    /// The bridges of one app's trunk that are listed.
    package static let listed = 100

    private let pool: any PostgresSession

    /// Works on the database of `pool`, or in a transaction.
    package init(pool: any PostgresSession) { self.pool = pool }

    /// Writes how registrations of a bridge stand, and deletes what ended long ago, of bridges that were killed. Trunks
    /// that have been removed are left out.
    package func tell(_ notes: [RegistrationNote], of bridge: String) async throws(PostgresError) {
        guard !notes.isEmpty else { return }
        try await pool.query(
            """
            INSERT INTO sip_registrations AS r (app, bridge, state, status, ends_at)
            SELECT t.app, $1, n.state, n.status::integer, now() + n.remaining * interval '1 millisecond'
            FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS n (app, state, status, remaining)
                JOIN sip_trunks t ON t.app = n.app
            ON CONFLICT (app, bridge) DO UPDATE SET state = EXCLUDED.state, status = EXCLUDED.status,
                ends_at = EXCLUDED.ends_at,
                since = CASE WHEN r.state = EXCLUDED.state AND r.status IS NOT DISTINCT FROM EXCLUDED.status
                    THEN r.since ELSE now() END
            """,
            [
                .text(bridge), .texts(notes.map(\.app.rawValue)), .texts(notes.map(\.state.rawValue)),
                .ints(notes.map { $0.status.map(Int64.init) }), .ints(notes.map(\.remaining.millisecondsRoundedUp)),
            ])
        try await pool.query(
            """
            DELETE FROM sip_registrations WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM sip_registrations WHERE ends_at < now() - interval '1 hour'
                LIMIT $1 FOR UPDATE SKIP LOCKED))
            """, [.int(Int64(Self.portion))])
    }

    /// Deletes what a bridge has told of these apps: its registrations have ended.
    package func forget(_ apps: [AppID], of bridge: String) async throws(PostgresError) {
        guard !apps.isEmpty else { return }
        try await pool.query(
            "DELETE FROM sip_registrations WHERE bridge = $1 AND app = ANY ($2::text[])",
            [.text(bridge), .texts(apps.map(\.rawValue))])
    }

    /// What holds now of all trunks that register, or of one app's, by app and bridge.
    package func list(app: AppID? = nil) async throws(PostgresError) -> [SIPRegistration] {
        let rows = try await pool.query(
            """
            SELECT app, bridge, state, status, (extract(epoch FROM since) * 1000)::bigint AS since_ms,
                (extract(epoch FROM until) * 1000)::bigint AS until_ms
            FROM trunk_registrations WHERE bridge IS NOT NULL AND ($1::text IS NULL OR app = $1) ORDER BY app, bridge
            """, [.optional(app?.rawValue)])
        return try rows.map { row throws(PostgresError) in try SIPRegistration(row) }
    }
}

extension SIPRegistration {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        guard let app = try? AppID(try row.string("app")), let state = State(rawValue: try row.string("state")) else {
            throw PostgresError(
                .shape, "the table sip_registrations contains a value that this build does not know")
        }
        self.init(
            app: app, bridge: try row.string("bridge"), state: state, status: try row.optionalInt64("status"),
            since: try row.int64("since_ms"), until: try row.optionalInt64("until_ms"))
    }
}
