package import SignalingProtocol

/// What is known about a call so far. Times are Unix milliseconds.
package struct CallRecord: Equatable, Sendable {
    /// What the callee is.
    package enum Kind: String, Sendable {
        /// A user of the app.
        case user
        /// A phone.
        case phone
    }

    /// Where the call comes from and goes to.
    package enum Direction: String, Sendable {
        /// Between two users.
        case `internal`
        /// From a user to a phone.
        case outbound
        /// From a phone to a user.
        case inbound
    }

    /// The app.
    package var app: AppID
    /// The call, unique within the app.
    package var id: String
    /// The channel that the call is about.
    package var channel: ChannelName
    /// Who calls: an account or a phone number.
    package var caller: String
    /// Whom: an account or a phone number.
    package var callee: String
    /// What the callee is.
    package var kind: Kind
    /// Where it comes from and goes to.
    package var direction: Direction
    /// When it was invited.
    package var startedAt: Int64
    /// When the callee's client had it.
    package var acknowledgedAt: Int64?
    /// When the callee accepted.
    package var acceptedAt: Int64?
    /// When it ended, whatever the way.
    package var endedAt: Int64?
    /// How it ended: 0 or a public code such as 704.
    package var endCode: Int?
    /// The SIP Call-ID of the telephone's side.
    package var sipCallID: String?
    /// The status of the final SIP response to its invitation.
    package var sipStatus: Int?
    /// The reason phrase of that response.
    package var sipReason: String?

    /// The caller's session; nil for a telephone.
    package var callerSession: SessionID?
    /// The session in which the callee answered.
    package var calleeSession: SessionID?

    /// Makes the record of a call that has just been invited.
    package init(
        app: AppID, id: String, channel: ChannelName, caller: String, callee: String, kind: Kind = .user,
        direction: Direction = .internal, startedAt: Int64, acknowledgedAt: Int64? = nil, acceptedAt: Int64? = nil,
        endedAt: Int64? = nil, endCode: Int? = nil, sipCallID: String? = nil, sipStatus: Int? = nil,
        sipReason: String? = nil, callerSession: SessionID? = nil, calleeSession: SessionID? = nil
    ) {
        self.app = app
        self.id = id
        self.channel = channel
        self.caller = caller
        self.callee = callee
        self.kind = kind
        self.direction = direction
        self.startedAt = startedAt
        self.acknowledgedAt = acknowledgedAt
        self.acceptedAt = acceptedAt
        self.endedAt = endedAt
        self.endCode = endCode
        self.sipCallID = sipCallID
        self.sipStatus = sipStatus
        self.sipReason = sipReason
        self.callerSession = callerSession
        self.calleeSession = calleeSession
    }
}

/// The table `calls`.
package struct CallStore: Sendable {
    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Removes calls that began long ago, the oldest first.
    /// - Parameters:
    ///   - days: calls that began before so many days go.
    ///   - limit: how many at most.
    /// - Returns: how many went.
    /// - Throws: ``PostgresError``.
    package func prune(olderThanDays days: Int, limit: Int) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM calls WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM calls WHERE started_at < now() - make_interval(days => $1::bigint::integer)
                ORDER BY started_at LIMIT $2))
            """, [.int(Int64(days)), .int(Int64(limit))]
        ).affected
    }

    /// Adds a call, or adds to it what was not known yet: the first time and code stored of each kind stay, so records
    /// may come twice and in any order.
    /// - Throws: ``PostgresError``.
    package func record(_ call: CallRecord) async throws(PostgresError) {
        try await pool.query(
            """
            INSERT INTO calls AS c (app, id, channel, caller, callee, kind, direction, started_at, acknowledged_at,
                accepted_at, ended_at, end_code, sip_call_id, sip_status, sip_reason, caller_session, callee_session)
            VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::bigint / 1000.0), to_timestamp($9::bigint / 1000.0),
                to_timestamp($10::bigint / 1000.0), to_timestamp($11::bigint / 1000.0), $12::bigint, $13,
                $14::bigint, $15, $16, $17)
            ON CONFLICT (app, id) DO UPDATE SET
                acknowledged_at = coalesce(c.acknowledged_at, EXCLUDED.acknowledged_at),
                accepted_at = coalesce(c.accepted_at, EXCLUDED.accepted_at),
                ended_at = coalesce(c.ended_at, EXCLUDED.ended_at),
                end_code = coalesce(c.end_code, EXCLUDED.end_code),
                sip_call_id = coalesce(c.sip_call_id, EXCLUDED.sip_call_id),
                sip_status = coalesce(c.sip_status, EXCLUDED.sip_status),
                sip_reason = coalesce(c.sip_reason, EXCLUDED.sip_reason),
                caller_session = coalesce(c.caller_session, EXCLUDED.caller_session),
                callee_session = coalesce(EXCLUDED.callee_session, c.callee_session)
            """,
            [
                .text(call.app.rawValue), .text(call.id), .text(call.channel.rawValue), .text(call.caller),
                .text(call.callee), .text(call.kind.rawValue), .text(call.direction.rawValue), .int(call.startedAt),
                .optional(call.acknowledgedAt), .optional(call.acceptedAt), .optional(call.endedAt),
                .optional(call.endCode.map { Int64($0) }), .optional(call.sipCallID),
                .optional(call.sipStatus.map { Int64($0) }), .optional(call.sipReason),
                .optional(call.callerSession?.rawValue), .optional(call.calleeSession?.rawValue),
            ])
    }

    /// Calls that have no end yet, by their beginning.
    /// - Parameters:
    ///   - seconds: those that began so long ago.
    ///   - cursor: what the page before told; nil for the first.
    ///   - limit: how many at most.
    /// - Returns: the calls, and where the next page begins; nil when there is none.
    /// - Throws: ``PostgresError``.
    package func open(
        longerThan seconds: Int, after cursor: OpenCallCursor?, limit: Int
    ) async throws(PostgresError) -> (calls: [CallRecord], next: OpenCallCursor?) {
        let rows = try await pool.query(
            """
            SELECT app, id, channel, caller, callee, kind, direction, caller_session, callee_session,
                started_at::text AS started, (extract(epoch FROM started_at) * 1000)::bigint AS started_ms,
                (extract(epoch FROM acknowledged_at) * 1000)::bigint::text AS acknowledged_ms,
                (extract(epoch FROM accepted_at) * 1000)::bigint::text AS accepted_ms
            FROM calls
            WHERE ended_at IS NULL AND started_at < now() - make_interval(secs => $1::bigint)
                AND (started_at, app, id) > ($2::timestamptz, $3, $4)
            ORDER BY started_at, app, id LIMIT $5
            """,
            [
                .int(Int64(seconds)), .text(cursor?.started ?? "-infinity"), .text(cursor?.app ?? ""),
                .text(cursor?.id ?? ""), .int(Int64(limit)),
            ])
        var calls: [CallRecord] = []
        var next: OpenCallCursor?
        for row in rows {
            next = OpenCallCursor(
                started: try row.string("started"), app: try row.string("app"), id: try row.string("id"))
            if let call = try CallRecord(open: row) { calls.append(call) }
        }
        return (calls, rows.count < limit ? nil : next)
    }
}

/// Where a page of calls without an end begins.
package struct OpenCallCursor: Equatable, Sendable {
    var started: String
    var app: String
    var id: String
}

extension CallRecord {
    /// Nil for a row that nobody can have written.
    fileprivate init?(open row: PostgresRow) throws(PostgresError) {
        guard let app = try? AppID(try row.string("app")), let channel = try? ChannelName(try row.string("channel")),
            let kind = Kind(rawValue: try row.string("kind")),
            let direction = Direction(rawValue: try row.string("direction"))
        else { return nil }
        self.init(
            app: app, id: try row.string("id"), channel: channel, caller: try row.string("caller"),
            callee: try row.string("callee"), kind: kind, direction: direction, startedAt: try row.int64("started_ms"),
            acknowledgedAt: try row.optionalString("acknowledged_ms").flatMap { Int64($0) },
            acceptedAt: try row.optionalString("accepted_ms").flatMap { Int64($0) },
            callerSession: try row.optionalString("caller_session").map { SessionID($0) },
            calleeSession: try row.optionalString("callee_session").map { SessionID($0) })
    }
}
