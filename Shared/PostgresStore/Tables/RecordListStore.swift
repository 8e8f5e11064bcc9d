package import BusProtocol
internal import SignalingProtocol

/// What operators narrow a list down by. The server API has no such filters: a page may read many rows for few records.
package struct RecordFilter: Sendable {
    /// Users at gateways whose ids begin with this.
    package var gateway = ""
    /// Channels with so many members at least.
    package var members = 0
    /// Calls that began before this time, in Unix seconds; nil for all.
    package var before: Int64?
    /// Calls with this state, such as `talking`; nil for all.
    package var state: String?
    /// Calls of this account or number; nil for all.
    package var party: String?
    /// Calls in this direction; nil for all.
    package var direction: String?
    /// Calls with this id, which may repeat after a long time; nil for all.
    package var id: String?

    package init() {}
}

/// Pages of lists for the server API and the command line. Each page is one statement that reads its rows by an index,
/// from where the page before ended.
package struct RecordListStore: Sendable {
    let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Reads a page, within the pool's ``PostgresConfiguration/queryTimeout``.
    /// - Throws: ``PostgresError``.
    package func page(
        _ request: ListRecords, matching filter: RecordFilter = RecordFilter()
    ) async throws(PostgresError) -> RecordPage {
        let (sql, parameters) = Self.statement(for: request, matching: filter)
        var records: [String] = []
        var last: String?
        // One row more than asked for tells whether there is a next page.
        for row in try await pool.query(sql, parameters) {
            guard records.count < request.limit || request.list == .usage else {
                return RecordPage(records: Self.array(records), next: last)
            }
            records.append(try row.string("record"))
            last = try row.string("key")
        }
        return RecordPage(records: Self.array(records), next: nil)
    }

    private static func array(_ records: [String]) -> String { "[" + records.joined(separator: ",") + "]" }

    // MARK: - Statements

    static func statement(
        for request: ListRecords, matching filter: RecordFilter = RecordFilter()
    ) -> (sql: String, parameters: [PostgresParameter]) {
        var parameters: [PostgresParameter] = []
        let sql =
            switch request.list {
            case .apps: apps(request, &parameters)
            case .users, .online: users(request, filter, &parameters)
            case .channels: channels(request, filter, &parameters)
            case .members: members(request, &parameters)
            case .calls, .open: calls(request, filter, &parameters)
            case .bans: bans(request, &parameters)
            case .audit: audit(request, &parameters)
            case .usage: usage(request, &parameters)
            case .webhooks, .webhook: webhooks(request, &parameters)
            case .trunks: trunks(request, &parameters)
            case .hooks: hooks(request, &parameters)
            case .keys: keys(request, &parameters)
            }
        return (sql, parameters)
    }

    /// Adds a parameter and returns its place.
    static func put(_ value: PostgresParameter, _ parameters: inout [PostgresParameter]) -> String {
        parameters.append(value)
        return "$\(parameters.count)"
    }

    static func app(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        put(.text(request.app?.rawValue ?? ""), &parameters)
    }

    static func limit(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        put(.int(Int64(request.limit) + 1), &parameters) + "::bigint"
    }

    /// The condition that a name has the prefix and comes after the page before. Names are compared byte by byte.
    static func names(
        _ column: String, _ request: ListRecords, _ parameters: inout [PostgresParameter]
    ) -> String {
        var condition = "\(column) > \(put(.text(request.after), &parameters))"
        if !request.prefix.isEmpty {
            condition += " AND \(column) >= \(put(.text(request.prefix), &parameters))"
            if let end = end(of: request.prefix) { condition += " AND \(column) < \(put(.text(end), &parameters))" }
        }
        return condition
    }

    /// The least text above all that begin with a prefix; nil when there is none.
    static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // After U+D7FF come the surrogates, which are no characters.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            return String(String.UnicodeScalarView(scalars))
        }
        return nil
    }

    /// A time in Unix seconds.
    static func seconds(_ column: String) -> String { "floor(extract(epoch FROM \(column)))::bigint" }

    private static func apps(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        """
        SELECT a.id AS key, json_build_object('app', a.id, 'tokenRequired', a.token_required,
            'createdAt', \(seconds("a.created_at")),
            'online', coalesce((SELECT sum(g.sessions) FROM gateway_sessions g WHERE g.app = a.id), 0)::bigint,
            'channels', coalesce((SELECT c.channels FROM app_channels c WHERE c.app = a.id), 0),
            'members', coalesce((SELECT c.members FROM app_channels c WHERE c.app = a.id), 0))::text AS record
        FROM (SELECT * FROM apps p WHERE \(names("p.id", request, &parameters))
            ORDER BY p.id LIMIT \(limit(request, &parameters))) a ORDER BY a.id
        """
    }

    private static func users(
        _ request: ListRecords, _ filter: RecordFilter, _ parameters: inout [PostgresParameter]
    ) -> String {
        var own = "app = \(app(request, &parameters)) AND \(names("account", request, &parameters))"
        if !filter.gateway.isEmpty { own += " AND starts_with(gateway, \(put(.text(filter.gateway), &parameters)))" }
        let end = "ORDER BY account LIMIT \(limit(request, &parameters))"
        let rows =
            request.list == .online
            ? "(SELECT * FROM presence_sessions WHERE \(own) AND present \(end)) u"
            : """
            (SELECT * FROM users WHERE \(own) \(end)) u LEFT JOIN presence_sessions s
                ON s.app = u.app AND s.account = u.account AND s.present
            """
        let session = request.list == .online ? "u" : "s"
        return """
            SELECT u.account AS key, json_build_object('account', u.account, 'uid', u.uid,
                'state', CASE \(session).detached WHEN true THEN 'detached' WHEN false THEN 'connected' ELSE 'offline' END,
                'gateway', \(session).gateway, 'device', \(session).device,
                'since', \(seconds("\(session).since")))::text AS record
            FROM \(rows) ORDER BY u.account
            """
    }

    private static func channels(
        _ request: ListRecords, _ filter: RecordFilter, _ parameters: inout [PostgresParameter]
    ) -> String {
        let size = filter.members > 0 ? " AND members >= \(put(.int(Int64(filter.members)), &parameters))::bigint" : ""
        return """
            SELECT c.channel AS key, json_build_object('channel', c.channel, 'members', c.members, 'attributes', coalesce((
                SELECT v.attributes FROM channel_attribute_versions v WHERE v.app = c.app AND v.channel = c.channel), 0)
                )::text AS record
            FROM (SELECT * FROM channel_sizes WHERE app = \(app(request, &parameters))
                AND \(names("channel", request, &parameters))\(size)
                ORDER BY channel LIMIT \(limit(request, &parameters))) c ORDER BY c.channel
            """
    }

    private static func members(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        """
        SELECT account AS key, json_build_object('account', account, 'uid', uid,
            'joinedAt', \(seconds("joined_at")))::text AS record
        FROM channel_members WHERE app = \(app(request, &parameters))
            AND channel = \(put(.text(request.channel?.rawValue ?? ""), &parameters)) AND present
            AND \(names("account", request, &parameters))
        ORDER BY account LIMIT \(limit(request, &parameters))
        """
    }

    /// A page's position is the start in microseconds, a dot, and the call's id.
    private static func calls(
        _ request: ListRecords, _ filter: RecordFilter, _ parameters: inout [PostgresParameter]
    ) -> String {
        var condition = "app = \(app(request, &parameters))"
        if request.list == .open { condition += " AND ended_at IS NULL" }
        if let before = filter.before {
            condition += " AND started_at < to_timestamp(\(put(.int(before), &parameters))::bigint)"
        }
        for (column, value) in [("id", filter.id), ("state", filter.state), ("direction", filter.direction)] {
            if let value { condition += " AND \(column) = \(put(.text(value), &parameters))" }
        }
        if let party = filter.party {
            let place = put(.text(party), &parameters)
            condition += " AND (caller = \(place) OR callee = \(place))"
        }
        if let (time, text) = place(request.after, &parameters) {
            let id = put(.text(text), &parameters)
            condition += " AND started_at <= \(time) AND (started_at, id) < (\(time), \(id))"
        }
        return """
            SELECT (extract(epoch FROM started_at) * 1000000)::bigint || '.' || id AS key,
                json_build_object('id', id, 'channel', channel, 'caller', caller, 'callee', callee, 'kind', kind,
                'direction', direction, 'state', state, 'startedAt', \(seconds("started_at")),
                'acknowledgedAt', \(seconds("acknowledged_at")), 'acceptedAt', \(seconds("accepted_at")),
                'endedAt', \(seconds("ended_at")), 'endCode', end_code, 'talkSeconds', \(seconds("talk_time")),
                'sipStatus', sip_status, 'sipReason', sip_reason)::text AS record
            FROM call_log WHERE \(condition) ORDER BY started_at DESC, id DESC LIMIT \(limit(request, &parameters))
            """
    }

    /// A time and an id, from a page's position: microseconds, a dot, and the id; nil for others.
    /// - Returns: the time as SQL, and the id.
    private static func place(
        _ position: String, _ parameters: inout [PostgresParameter]
    ) -> (time: String, id: String)? {
        let parts = position.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0]) else { return nil }
        let time = "'epoch'::timestamptz + \(put(.int(start), &parameters))::bigint * interval '1 microsecond'"
        return (time, String(parts[1]))
    }

    /// A page's position is the time in microseconds, a dot, and the entry's id.
    private static func audit(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        var condition = request.app == nil ? "true" : "app = \(app(request, &parameters))"
        if let (time, text) = place(request.after, &parameters), let number = Int64(text) {
            let id = "\(put(.int(number), &parameters))::bigint"
            condition += " AND at <= \(time) AND (at, id) < (\(time), \(id))"
        }
        return """
            SELECT (extract(epoch FROM at) * 1000000)::bigint || '.' || id AS key,
                json_build_object('id', id, 'at', \(seconds("at")), 'act', act, 'app', app, 'subject', subject, 'by', by_kind,
                'name', by_name, 'details', details, 'requestId', request_id, 'traceId', trace_id,
                'command', command_id)::text AS record
            FROM audit_trail WHERE \(condition) ORDER BY at DESC, id DESC LIMIT \(limit(request, &parameters))
            """
    }

    private static func bans(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        """
        SELECT account AS key, json_build_object('account', account, 'until', \(seconds("until")),
            'reason', reason, 'createdAt', \(seconds("created_at")))::text AS record
        FROM user_bans WHERE app = \(app(request, &parameters)) AND until > now()
            AND \(names("account", request, &parameters))
        ORDER BY account LIMIT \(limit(request, &parameters))
        """
    }

    private static func usage(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        """
        SELECT '' AS key, json_build_object('app', u.app, 'users', u.users, 'online', u.users_online,
            'channels', u.channels, 'members', u.members, 'callsLastDay', u.calls_last_day,
            'phoneNumbers', u.phone_numbers, 'days', coalesce((
                SELECT json_agg(json_build_object('day', d.day, 'logins', d.logins, 'messages', d.messages,
                    'deliveries', d.deliveries, 'calls', d.calls, 'callSeconds', \(wholeSeconds("d.call_time")),
                    'phoneCalls', d.phone_calls, 'phoneCallSeconds', \(wholeSeconds("d.phone_call_time")),
                    'peakUsers', d.peak_users) ORDER BY d.day DESC)
                FROM usage_by_day d WHERE d.app = u.app
                AND d.day > (now() AT TIME ZONE 'UTC')::date - \(put(.int(Int64(request.limit)), &parameters))::bigint::integer),
                '[]'))::text AS record
        FROM app_usage u WHERE u.app = \(app(request, &parameters))
        """
    }

    private static func wholeSeconds(_ interval: String) -> String { "round(extract(epoch FROM \(interval)))::bigint" }
}
