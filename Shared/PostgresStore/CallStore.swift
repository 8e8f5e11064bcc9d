public import SignalingProtocol

/// What is known about a call so far. Times are Unix milliseconds.
public struct CallRecord: Equatable, Sendable {
    /// What the callee is.
    public enum Kind: String, Sendable {
        /// A user of the app.
        case user
        /// A phone.
        case phone
    }

    /// Where the call comes from and goes to.
    public enum Direction: String, Sendable {
        /// Between two users.
        case `internal`
        /// From a user to a phone.
        case outbound
        /// From a phone to a user.
        case inbound
    }

    /// The app.
    public var app: AppID
    /// The call, unique within the app.
    public var id: String
    /// The channel that the call is about.
    public var channel: ChannelName
    /// Who calls: an account or a phone number.
    public var caller: String
    /// Whom: an account or a phone number.
    public var callee: String
    /// What the callee is.
    public var kind: Kind
    /// Where it comes from and goes to.
    public var direction: Direction
    /// When it was invited.
    public var startedAt: Int64
    /// When the callee's client had it.
    public var acknowledgedAt: Int64?
    /// When the callee accepted.
    public var acceptedAt: Int64?
    /// When it ended, whatever the way.
    public var endedAt: Int64?
    /// How it ended: 0 or a public code such as 704.
    public var endCode: Int?
    /// The SIP Call-ID of the telephone's side.
    public var sipCallID: String?
    /// The status of the final SIP response to its invitation.
    public var sipStatus: Int?
    /// The reason phrase of that response.
    public var sipReason: String?

    /// Makes the record of a call that has just been invited.
    public init(
        app: AppID, id: String, channel: ChannelName, caller: String, callee: String, kind: Kind = .user,
        direction: Direction = .internal, startedAt: Int64, acknowledgedAt: Int64? = nil, acceptedAt: Int64? = nil,
        endedAt: Int64? = nil, endCode: Int? = nil, sipCallID: String? = nil, sipStatus: Int? = nil,
        sipReason: String? = nil
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
    }
}

/// The table `calls`.
public struct CallStore: Sendable {
    private let pool: PostgresPool

    /// Works on the database of `pool`.
    public init(pool: PostgresPool) { self.pool = pool }

    /// Adds a call, or adds to it what was not known yet: the first time and code stored of each kind stay, so records
    /// may come twice and in any order.
    /// - Throws: ``PostgresError``.
    public func record(_ call: CallRecord) async throws(PostgresError) {
        try await pool.query(
            """
            INSERT INTO calls AS c (app, id, channel, caller, callee, kind, direction, started_at, acknowledged_at,
                accepted_at, ended_at, end_code, sip_call_id, sip_status, sip_reason)
            VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::bigint / 1000.0), to_timestamp($9::bigint / 1000.0),
                to_timestamp($10::bigint / 1000.0), to_timestamp($11::bigint / 1000.0), $12::bigint, $13,
                $14::bigint, $15)
            ON CONFLICT (app, id) DO UPDATE SET
                acknowledged_at = coalesce(c.acknowledged_at, EXCLUDED.acknowledged_at),
                accepted_at = coalesce(c.accepted_at, EXCLUDED.accepted_at),
                ended_at = coalesce(c.ended_at, EXCLUDED.ended_at),
                end_code = coalesce(c.end_code, EXCLUDED.end_code),
                sip_call_id = coalesce(c.sip_call_id, EXCLUDED.sip_call_id),
                sip_status = coalesce(c.sip_status, EXCLUDED.sip_status),
                sip_reason = coalesce(c.sip_reason, EXCLUDED.sip_reason)
            """,
            [
                .text(call.app.rawValue), .text(call.id), .text(call.channel.rawValue), .text(call.caller),
                .text(call.callee), .text(call.kind.rawValue), .text(call.direction.rawValue), .int(call.startedAt),
                .optional(call.acknowledgedAt), .optional(call.acceptedAt), .optional(call.endedAt),
                .optional(call.endCode.map { Int64($0) }), .optional(call.sipCallID),
                .optional(call.sipStatus.map { Int64($0) }), .optional(call.sipReason),
            ])
    }
}
