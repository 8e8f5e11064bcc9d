package import SignalingProtocol

/// The table `sip_trunks`. Every method throws ``PostgresError``.
package struct TrunkStore: Sendable {
    private static let columns =
        "app, host, port, transport, auth_user, secret, from_domain, register, dtmf, srtp, ring_seconds, "
        + "accept_digest, trace, callees, callers, calls_per_user, new_calls_per_user, calls_per_app, "
        + "new_calls_per_app, longest_call, asserted_identity, privacy, NOT token_required AS is_open, (extract(epoch "
        + "FROM updated_at) * 1000)::bigint AS updated_ms"
    private static let table = "sip_trunks JOIN apps ON apps.id = sip_trunks.app"

    private let pool: any PostgresSession

    /// Works on the database of `pool`, or in a transaction.
    package init(pool: any PostgresSession) { self.pool = pool }

    /// An app's trunk; nil when it has none.
    package func find(_ app: AppID) async throws(PostgresError) -> SIPTrunk? {
        let rows = try await pool.query(
            "SELECT \(Self.columns) FROM \(Self.table) WHERE app = $1", [.text(app.rawValue)],
            within: pool.configuration.actTimeout)
        guard let row = rows.first else { return nil }
        return try SIPTrunk(row)
    }

    /// All trunks, sorted by app.
    package func list() async throws(PostgresError) -> [SIPTrunk] {
        var trunks: [SIPTrunk] = []
        for row in try await pool.query("SELECT \(Self.columns) FROM \(Self.table) ORDER BY app") {
            trunks.append(try SIPTrunk(row))
        }
        return trunks
    }

    /// Stores an app's trunk, replacing the previous one.
    /// - Throws: an error with ``PostgresError/isMissingReference`` when the app does not exist.
    package func set(_ trunk: SIPTrunk) async throws(PostgresError) {
        try await pool.query(
            """
            INSERT INTO sip_trunks (app, host, port, transport, auth_user, secret, from_domain, register, dtmf, srtp,
                ring_seconds, accept_digest, trace, callees, callers, calls_per_user, new_calls_per_user,
                calls_per_app, new_calls_per_app, longest_call, asserted_identity, privacy)
            VALUES ($1, $2, $3::bigint, $4, $5, $6, $7, $8, $9, $10, $11::bigint, $12, $13, $14, $15, $16::bigint,
                $17::bigint, $18::bigint, $19::bigint, $20::bigint, $21, $22)
            ON CONFLICT (app) DO UPDATE SET
                host = EXCLUDED.host, port = EXCLUDED.port, transport = EXCLUDED.transport,
                auth_user = EXCLUDED.auth_user, secret = EXCLUDED.secret, from_domain = EXCLUDED.from_domain,
                register = EXCLUDED.register, dtmf = EXCLUDED.dtmf, srtp = EXCLUDED.srtp,
                ring_seconds = EXCLUDED.ring_seconds, accept_digest = EXCLUDED.accept_digest, trace = EXCLUDED.trace,
                callees = EXCLUDED.callees, callers = EXCLUDED.callers, calls_per_user = EXCLUDED.calls_per_user,
                new_calls_per_user = EXCLUDED.new_calls_per_user, calls_per_app = EXCLUDED.calls_per_app,
                new_calls_per_app = EXCLUDED.new_calls_per_app, longest_call = EXCLUDED.longest_call,
                asserted_identity = EXCLUDED.asserted_identity, privacy = EXCLUDED.privacy, updated_at = now()
            """,
            [
                .text(trunk.app.rawValue), .text(trunk.host), .int(Int64(trunk.port)),
                .text(trunk.transport.rawValue), .optional(trunk.authUser), .optional(trunk.secret),
                .optional(trunk.fromDomain), .bool(trunk.register), .text(trunk.dtmf.rawValue),
                .text(trunk.srtp.rawValue), .int(trunk.ringTime.components.seconds), .bool(trunk.acceptDigest),
                .bool(trunk.trace), .optional(trunk.policy.callees.text), .optional(trunk.policy.callers.text),
                .int(Int64(trunk.policy.callsPerUser)), .int(Int64(trunk.policy.newCallsPerUser)),
                .int(Int64(trunk.policy.callsPerApp)), .int(Int64(trunk.policy.newCallsPerApp)),
                .int(trunk.policy.longestCall.components.seconds), .optional(trunk.assertedIdentity),
                .optional(trunk.privacy),
            ])
    }

    /// Deletes an app's trunk.
    /// - Returns: false when it had none.
    package func remove(_ app: AppID) async throws(PostgresError) -> Bool {
        try await pool.query("DELETE FROM sip_trunks WHERE app = $1", [.text(app.rawValue)]).affected == 1
    }
}

extension SIPTrunk {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        guard let app = try? AppID(try row.string("app")), let port = Int(exactly: try row.int64("port")),
            let transport = SIPTransport(rawValue: try row.string("transport")),
            let dtmf = DTMF(rawValue: try row.string("dtmf")), let srtp = SRTP(rawValue: try row.string("srtp"))
        else { throw PostgresError(.shape, "the table sip_trunks contains a value that this build does not know") }
        self.init(app: app, host: try row.string("host"), port: port, transport: transport)
        authUser = try row.optionalString("auth_user")
        secret = try row.optionalString("secret")
        fromDomain = try row.optionalString("from_domain")
        register = try row.bool("register")
        self.dtmf = dtmf
        self.srtp = srtp
        ringTime = .seconds(try row.int64("ring_seconds"))
        acceptDigest = try row.bool("accept_digest")
        trace = try row.bool("trace")
        assertedIdentity = try row.optionalString("asserted_identity")
        privacy = try row.optionalString("privacy")
        policy = try PhonePolicy(row)
        isOfOpenApp = try row.bool("is_open")
        updatedAt = try row.int64("updated_ms")
    }
}

extension PhonePolicy {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        self.init()
        callees = Numbers(text: try row.optionalString("callees"))
        callers = Numbers(text: try row.optionalString("callers"))
        callsPerUser = Int(try row.int64("calls_per_user"))
        newCallsPerUser = Int(try row.int64("new_calls_per_user"))
        callsPerApp = Int(try row.int64("calls_per_app"))
        newCallsPerApp = Int(try row.int64("new_calls_per_app"))
        longestCall = .seconds(try row.int64("longest_call"))
    }
}
