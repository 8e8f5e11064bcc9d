package import BusProtocol
package import SignalingProtocol

/// The history of one call, as far as it is known.
package struct CallRecord: Equatable, Sendable {
    /// The callee's type.
    package enum Kind: String, Sendable {
        /// A user of the app, reached through a client.
        case user
        /// A telephone, reached through the app's SIP trunk.
        case phone
    }

    /// Between which kinds of parties the call is made.
    package enum Direction: String, Sendable {
        /// From a user to a user.
        case `internal`
        /// From a user to a phone.
        case outbound
        /// From a phone to a user.
        case inbound
    }

    /// A party of the call.
    package struct Party: Equatable, Sendable {
        /// The account or phone number.
        package var name: String
        /// The user's session: the one that called, or in which the callee answered; nil for a telephone.
        package var session: SessionID?

        package init(_ name: String, session: SessionID? = nil) {
            self.name = name
            self.session = session
        }
    }

    /// The call's id, unique within the app.
    package var id: String
    /// The app whose users the call belongs to, and the channel named in the invitation.
    package var channel: ChannelKey
    /// The calling party.
    package var caller: Party
    /// The called party.
    package var callee: Party
    /// Whether the callee is a user or a telephone; default `user`.
    package var kind = Kind.user
    /// Between which kinds of parties the call is made; default `internal`.
    package var direction = Direction.internal
    /// When the caller sent the invitation.
    package var startedAt: RedisTime
    /// When the callee's client confirmed that it had received the invitation.
    package var acknowledgedAt: RedisTime?
    /// When the callee accepted.
    package var acceptedAt: RedisTime?
    /// When the call ended: refused, cancelled, timed out or hung up.
    package var endedAt: RedisTime?
    /// Why it ended: 0 for a normal end, else a public code such as 704.
    package var endCode: Int?
    /// What SIP said of the telephone's side.
    package var sip = PhoneRecord()

    /// Creates the record of a new call between users; what is not known yet is nil.
    package init(id: String, channel: ChannelKey, caller: Party, callee: Party, startedAt: RedisTime) {
        self.id = id
        self.channel = channel
        self.caller = caller
        self.callee = callee
        self.startedAt = startedAt
    }
}

/// The table `calls`, which is divided by month (``CallMonths``).
package struct CallStore: Sendable {
    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Deletes old calls, oldest first.
    /// - Parameters:
    ///   - days: calls that started more than this many days ago are deleted.
    ///   - limit: the number to delete in one statement. It can be exceeded, because rows of several
    ///     months can have the same `ctid`.
    /// - Returns: the number of deleted calls.
    /// - Throws: ``PostgresError``.
    package func prune(olderThanDays days: Int, limit: Int) async throws(PostgresError) -> Int {
        try await pool.query(
            """
            DELETE FROM calls WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM calls WHERE started_at < now() - make_interval(days => $1::bigint::integer)
                ORDER BY started_at LIMIT $2))
            AND started_at < now() - make_interval(days => $1::bigint::integer)
            """, [.int(Int64(days)), .int(Int64(limit))]
        ).affected
    }

    /// Inserts a call, or fills in the columns that are still NULL. A time or code that is already stored is never
    /// overwritten, so records may arrive twice and in any order.
    /// - Throws: ``PostgresError``; SQLSTATE 23505 when the app has another call with this
    ///   id, which began at another time.
    package func record(_ call: CallRecord) async throws(PostgresError) {
        do throws(PostgresError) {
            try await upsert(call)
        } catch  where error.isDuplicate {
            // Two inserts of a call at the same moment can meet at its primary key, which the statement does not look
            // at. By now the other one is committed.
            try await upsert(call)
        }
    }

    private func upsert(_ call: CallRecord) async throws(PostgresError) {
        try await pool.query(
            """
            INSERT INTO calls AS c (app, id, channel, caller, callee, kind, direction, started_at, acknowledged_at,
                accepted_at, ended_at, end_code, sip_call_id, sip_status, sip_reason, caller_session, callee_session)
            VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::bigint / 1000.0), to_timestamp($9::bigint / 1000.0),
                to_timestamp($10::bigint / 1000.0), to_timestamp($11::bigint / 1000.0), $12::bigint, $13,
                $14::bigint, $15, $16, $17)
            ON CONFLICT (app, id, started_at) DO UPDATE SET
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
                .text(call.channel.app.rawValue), .text(call.id), .text(call.channel.name.rawValue),
                .text(call.caller.name), .text(call.callee.name), .text(call.kind.rawValue),
                .text(call.direction.rawValue), .int(call.startedAt.milliseconds),
                .optional(call.acknowledgedAt?.milliseconds), .optional(call.acceptedAt?.milliseconds),
                .optional(call.endedAt?.milliseconds),
                .optional(call.endCode.map { Int64($0) }), .optional(call.sip.sipCallID),
                .optional(call.sip.status.map { Int64($0) }), .optional(call.sip.reason),
                .optional(call.caller.session?.rawValue), .optional(call.callee.session?.rawValue),
            ])
    }

    /// One page of calls without an end, by start time.
    /// - Parameters:
    ///   - age: only calls that started longer ago than this; fractions of a second are dropped.
    ///   - cursor: the `next` of the previous page; nil for the first.
    ///   - limit: the page's size.
    /// - Returns: the calls, and the cursor of the next page; nil after the last page.
    /// - Throws: ``PostgresError``.
    package func open(
        longerThan age: Duration, after cursor: OpenCallCursor?, limit: Int
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
                .int(age.components.seconds), .text(cursor?.started ?? "-infinity"), .text(cursor?.app ?? ""),
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

/// A position in the list of calls without an end: the key of a page's last row.
package struct OpenCallCursor: Equatable, Sendable {
    var started: String
    var app: String
    var id: String
}

extension CallRecord {
    /// Reads a row of the list of calls without an end; nil when it holds names that this
    /// service could not have written.
    fileprivate init?(open row: PostgresRow) throws(PostgresError) {
        guard let app = try? AppID(try row.string("app")), let channel = try? ChannelName(try row.string("channel")),
            let kind = Kind(rawValue: try row.string("kind")),
            let direction = Direction(rawValue: try row.string("direction"))
        else { return nil }
        self.init(
            id: try row.string("id"), channel: ChannelKey(app: app, name: channel),
            caller: Party(
                try row.string("caller"), session: try row.optionalString("caller_session").map { SessionID($0) }),
            callee: Party(
                try row.string("callee"), session: try row.optionalString("callee_session").map { SessionID($0) }),
            startedAt: RedisTime(milliseconds: try row.int64("started_ms")))
        self.kind = kind
        self.direction = direction
        acknowledgedAt = try row.optionalString("acknowledged_ms").flatMap { RedisTime(text: $0) }
        acceptedAt = try row.optionalString("accepted_ms").flatMap { RedisTime(text: $0) }
    }
}
