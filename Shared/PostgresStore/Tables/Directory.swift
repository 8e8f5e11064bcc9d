package import SignalingProtocol

/// A user who has a session, as the mirror of sessions shows them.
package struct OnlineUser: Equatable, Sendable {
    package var account: String
    package var uid: Int64
    package var gateway: String
    package var device: String
    /// `online`, or `detached` while the client is expected to come back.
    package var state: String
    /// When the session began.
    package var since: RedisTime
}

/// A user, whether online or not.
package struct KnownUser: Equatable, Sendable {
    package var account: String
    package var uid: Int64
    package var firstSeen: RedisTime
    /// The last login, noted once a day.
    package var lastSeen: RedisTime
    /// The user's session; nil for a user who is offline.
    package var session: OnlineUser?
    /// The channels that the user is in.
    package var channels: [String]
    package var attributes: [Attribute]
}

/// A channel with members or attributes.
package struct KnownChannel: Equatable, Sendable {
    package var name: String
    package var memberCount: Int64
    package var attributes: Int64
    /// When the member who is there for longest joined; nil without members.
    package var oldestJoin: RedisTime?
}

/// A member of a channel.
package struct KnownMember: Equatable, Sendable {
    package var account: String
    package var uid: Int64
    package var joinedAt: RedisTime
    /// Nil when the mirror of sessions does not have the member (yet).
    package var gateway: String?
}

/// A call of the log.
package struct LoggedCall: Equatable, Sendable {
    package var id: String
    package var channel: String
    package var caller: String
    package var callee: String
    /// `internal`, `outbound` or `inbound`.
    package var direction: String
    /// `inviting`, `ringing`, `talking`, `ended` or `not answered`.
    package var state: String
    package var startedAt: RedisTime
    package var acceptedAt: RedisTime?
    package var endedAt: RedisTime?
    /// Why it ended; 0 for a normal end.
    package var endCode: Int64?
    /// What the trunk answered, for a call with a telephone.
    package var sipStatus: Int64?
}

/// Where a page of names ends and which names it has.
package struct NamePage: Equatable, Sendable {
    /// The last name of the page before; empty for the first page.
    package var after: String
    /// What the names begin with.
    package var prefix: String
    /// The largest number of names.
    package var limit: Int

    package init(after: String = "", prefix: String = "", limit: Int) {
        self.after = after
        self.prefix = prefix
        self.limit = limit
    }

    /// The parameters `$2`, `$3` and `$4` of ``condition(_:)`` and of the limit.
    var parameters: [PostgresParameter] { [.text(after), .text(prefix), .int(Int64(limit))] }

    /// SQL by which an index on the names is used; names of accounts and channels sort by their bytes.
    static func condition(_ column: String) -> String {
        "\(column) > $2 AND \(column) >= $3 AND ($3 = '' OR \(column) < $3 || U&'\\+10FFFF')"
    }
}

/// What operators ask about an app's users, channels and calls: views of PostgreSQL, at most a second behind
/// (`mirror_lag`). Every method throws ``PostgresError``.
package struct Directory: Sendable {
    private let pool: PostgresPool
    private let app: AppID

    /// Works on an app's rows in the database of `pool`.
    package init(pool: PostgresPool, app: AppID) {
        self.pool = pool
        self.app = app
    }

    private static func ms(_ column: String, as name: String) -> String {
        "(extract(epoch FROM \(column)) * 1000)::bigint AS \(name)"
    }

    // MARK: - Users

    private static let session = "account, uid, gateway, device, state, \(ms("since", as: "since"))"

    /// Users with a session, by account.
    /// - Parameter gateway: only those at the gateways whose ids begin so; default all.
    package func onlineUsers(
        _ page: NamePage, gateway: String = ""
    ) async throws(PostgresError) -> [OnlineUser] {
        let rows = try await pool.query(
            """
            SELECT \(Self.session) FROM online_users
            WHERE app = $1 AND \(NamePage.condition("account")) AND starts_with(gateway, $5) ORDER BY account LIMIT $4
            """, [.text(app.rawValue)] + page.parameters + [.text(gateway)])
        var users: [OnlineUser] = []
        for row in rows { users.append(try Self.online(row)) }
        return users
    }

    /// A user; nil for an account that has never logged in.
    package func user(_ account: Account) async throws(PostgresError) -> KnownUser? {
        let key: [PostgresParameter] = [.text(app.rawValue), .text(account.rawValue)]
        let found = try await pool.query(
            """
            SELECT uid, \(Self.ms("first_seen", as: "first")), \(Self.ms("last_seen", as: "last")) FROM users
            WHERE app = $1 AND account = $2
            """, key)
        guard let row = found.first else { return nil }
        let sessions = try await pool.query(
            "SELECT \(Self.session) FROM online_users WHERE app = $1 AND account = $2", key)
        let channels = try await pool.query(
            "SELECT channel FROM channel_member_list WHERE app = $1 AND account = $2 ORDER BY channel LIMIT 1000", key)
        let attributes = try await pool.query(
            "SELECT name, value FROM user_attributes WHERE app = $1 AND account = $2 ORDER BY name", key)
        var session: OnlineUser?
        if let row = sessions.first { session = try Self.online(row) }
        var names: [String] = []
        for row in channels { names.append(try row.string("channel")) }
        return KnownUser(
            account: account.rawValue, uid: try row.int64("uid"),
            firstSeen: RedisTime(milliseconds: try row.int64("first")),
            lastSeen: RedisTime(milliseconds: try row.int64("last")), session: session, channels: names,
            attributes: try Self.attributes(attributes))
    }

    private static func online(_ row: PostgresRow) throws(PostgresError) -> OnlineUser {
        OnlineUser(
            account: try row.string("account"), uid: try row.int64("uid"), gateway: try row.string("gateway"),
            device: try row.string("device"), state: try row.string("state"),
            since: RedisTime(milliseconds: try row.int64("since")))
    }

    private static func attributes(_ rows: PostgresRows) throws(PostgresError) -> [Attribute] {
        var attributes: [Attribute] = []
        for row in rows {
            guard let name = try? AttributeName(row.string("name")) else {
                throw PostgresError(.shape, "the database contains an invalid attribute name")
            }
            attributes.append(Attribute(name: name, value: try row.string("value")))
        }
        return attributes
    }

    // MARK: - Channels

    private static let summary = "channel, members, attributes, \(ms("oldest_join", as: "oldest"))"

    /// Channels with members or attributes, by name.
    /// - Parameter members: only those with so many members at least; default 0.
    package func channels(
        _ page: NamePage, members: Int = 0
    ) async throws(PostgresError) -> [KnownChannel] {
        let rows = try await pool.query(
            """
            SELECT \(Self.summary) FROM channels
            WHERE app = $1 AND \(NamePage.condition("channel")) AND members >= $5 ORDER BY channel LIMIT $4
            """, [.text(app.rawValue)] + page.parameters + [.int(Int64(members))])
        var channels: [KnownChannel] = []
        for row in rows { channels.append(try Self.channel(row)) }
        return channels
    }

    /// A channel; nil when it has neither members nor attributes.
    package func channel(_ name: ChannelName) async throws(PostgresError) -> KnownChannel? {
        let rows = try await pool.query(
            "SELECT \(Self.summary) FROM channels WHERE app = $1 AND channel = $2",
            [.text(app.rawValue), .text(name.rawValue)])
        guard let row = rows.first else { return nil }
        return try Self.channel(row)
    }

    /// A channel's attributes, by name.
    package func attributes(of channel: ChannelName) async throws(PostgresError) -> [Attribute] {
        try Self.attributes(
            try await pool.query(
                "SELECT name, value FROM channel_attributes WHERE app = $1 AND channel = $2 ORDER BY name",
                [.text(app.rawValue), .text(channel.rawValue)]))
    }

    /// Members of a channel, by account.
    package func members(
        of channel: ChannelName, _ page: NamePage
    ) async throws(PostgresError) -> [KnownMember] {
        let rows = try await pool.query(
            """
            SELECT account, uid, gateway, \(Self.ms("joined_at", as: "joined")) FROM channel_member_list
            WHERE app = $1 AND channel = $5 AND \(NamePage.condition("account")) ORDER BY account LIMIT $4
            """, [.text(app.rawValue)] + page.parameters + [.text(channel.rawValue)])
        var members: [KnownMember] = []
        for row in rows {
            members.append(
                KnownMember(
                    account: try row.string("account"), uid: try row.int64("uid"),
                    joinedAt: RedisTime(milliseconds: try row.int64("joined")),
                    gateway: try row.optionalString("gateway")))
        }
        return members
    }

    private static func channel(_ row: PostgresRow) throws(PostgresError) -> KnownChannel {
        KnownChannel(
            name: try row.string("channel"), memberCount: try row.int64("members"),
            attributes: try row.int64("attributes"),
            oldestJoin: try row.optionalInt64("oldest").map { RedisTime(milliseconds: $0) })
    }

    // MARK: - Calls

    private static let call = """
        id, channel, caller, callee, direction, state, end_code, sip_status, \(ms("started_at", as: "started")),
        \(ms("accepted_at", as: "accepted")), \(ms("ended_at", as: "ended"))
        """

    /// Which calls to list.
    package struct CallFilter: Equatable, Sendable {
        /// Only those that began before this time; nil for all.
        package var before: RedisTime?
        /// Only those with this state, such as `talking`; nil for all.
        package var state: String?
        /// Only those with this party, an account or number; nil for all.
        package var party: String?
        /// Only those in this direction; nil for all.
        package var direction: String?

        package init() {}
    }

    /// Calls, the latest first.
    package func calls(_ filter: CallFilter, limit: Int) async throws(PostgresError) -> [LoggedCall] {
        let rows = try await pool.query(
            """
            SELECT \(Self.call) FROM call_log
            WHERE app = $1 AND ($2::bigint IS NULL OR started_at < to_timestamp($2::bigint / 1000.0))
                AND ($3::text IS NULL OR state = $3) AND ($4::text IS NULL OR caller = $4 OR callee = $4)
                AND ($5::text IS NULL OR direction = $5)
            ORDER BY started_at DESC, id DESC LIMIT $6
            """,
            [
                .text(app.rawValue), .optional(filter.before?.milliseconds), .optional(filter.state),
                .optional(filter.party), .optional(filter.direction), .int(Int64(limit)),
            ])
        var calls: [LoggedCall] = []
        for row in rows { calls.append(try Self.call(row)) }
        return calls
    }

    /// The calls with an id, the latest first: ids may repeat after a long time.
    package func calls(id: String) async throws(PostgresError) -> [LoggedCall] {
        let rows = try await pool.query(
            "SELECT \(Self.call) FROM call_log WHERE app = $1 AND id = $2 ORDER BY started_at DESC LIMIT 10",
            [.text(app.rawValue), .text(id)])
        var calls: [LoggedCall] = []
        for row in rows { calls.append(try Self.call(row)) }
        return calls
    }

    private static func call(_ row: PostgresRow) throws(PostgresError) -> LoggedCall {
        LoggedCall(
            id: try row.string("id"), channel: try row.string("channel"), caller: try row.string("caller"),
            callee: try row.string("callee"), direction: try row.string("direction"), state: try row.string("state"),
            startedAt: RedisTime(milliseconds: try row.int64("started")),
            acceptedAt: try row.optionalInt64("accepted").map { RedisTime(milliseconds: $0) },
            endedAt: try row.optionalInt64("ended").map { RedisTime(milliseconds: $0) },
            endCode: try row.optionalInt64("end_code"), sipStatus: try row.optionalInt64("sip_status"))
    }

    /// Whether the app exists.
    package func exists() async throws(PostgresError) -> Bool {
        try await !pool.query("SELECT FROM apps WHERE id = $1", [.text(app.rawValue)]).isEmpty
    }
}
