internal import CPostgres

/// The PostgreSQL server's address, with time and size limits.
package struct PostgresConfiguration: Sendable {
    /// The connection URL in libpq's form (`postgresql://user:password@host:port/database?sslmode=...`). Contains a
    /// password: never logged.
    package let url: String
    /// The URL's hosts, one entry each: libpq's `host`, `hostaddr` and `port`.
    private(set) var hosts: [[String: String]]
    /// Which of the hosts may be used.
    private(set) var requirement: ServerRequirement
    /// How long a connection attempt to one host may take; default 3 s, or 1 s when the URL has several hosts.
    package var connectTimeout: Duration
    /// The time limit of a query, excluding the wait for a free connection; default 5 s. The server enforces it
    /// (`statement_timeout`); if it does not answer half a second later, the connection is dropped.
    package var queryTimeout: Duration = .seconds(5)
    /// The time limit of a read that a user is waiting for, including the wait for a free connection; default 1 s.
    /// After it the connection is dropped.
    package var actTimeout: Duration = .seconds(1)
    /// The same limit for a write; default 2 s. After it, it is unknown whether the write took effect.
    package var changeTimeout: Duration = .seconds(2)
    /// The largest number of queries that wait for a free connection; default 4096. Further ones fail with `FULL`.
    package var waitingQueries = 4096
    /// Prepared statements kept per connection; default 128. Beyond it, statements run unprepared.
    package var preparedStatements = 128
    /// The longest pause between two probes of a PostgreSQL that does not answer; default 1 s. Queries fail at once
    /// meanwhile.
    package var longestBackOff: Duration = .seconds(1)
    /// On whose behalf the connections change things, for the audit trail; default nil, for the database's user.
    package var cause: AuditCause?

    /// Parses a URL; nothing is connected yet.
    /// - Throws: ``PostgresError`` with code `CONFIGURATION` when libpq cannot read it, or `target_session_attrs`
    ///   allows only servers that take no writes.
    package init(url: String) throws(PostgresError) {
        guard !url.utf8.contains(0), url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else {
            throw PostgresError(.configuration, "the PostgreSQL URL must start with postgresql://")
        }
        // libpq's own message may quote the URL including the password.
        guard let options = PQconninfoParse(url, nil) else {
            throw PostgresError(.configuration, "libpq cannot parse the PostgreSQL URL")
        }
        defer { PQconninfoFree(options) }
        let values = Self.values(of: options)
        self.url = url
        hosts = Self.hosts(in: values)
        requirement = try ServerRequirement(values["target_session_attrs"], hosts: hosts.count)
        connectTimeout = hosts.count > 1 ? .seconds(1) : .seconds(3)
    }

    /// The options that the URL contains, by libpq's keywords.
    private static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }

    /// Splits the URL's lists of hosts, addresses and ports. libpq has checked that their lengths match; a single port
    /// applies to all hosts.
    private static func hosts(in values: [String: String]) -> [[String: String]] {
        let lists = values.filter { ["host", "hostaddr", "port"].contains($0.key) }.mapValues {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let count = lists.values.map(\.count).max() ?? 1
        return (0..<count).map { index in
            lists.compactMapValues { $0.count == 1 ? $0[0] : index < $0.count ? $0[index] : nil }
        }
    }

    /// The same for one of the hosts, whether it is a standby or not.
    func only(_ host: Int) -> PostgresConfiguration {
        var one = self
        one.hosts = [hosts[host]]
        one.requirement = .any
        return one
    }

    /// A host for log lines: its name or address, and its port.
    func name(of host: Int) -> String {
        let place = hosts[host]
        return [place["host"] ?? place["hostaddr"], place["port"]].compactMap { $0 }.joined(separator: ":")
    }
}

extension PostgresConfiguration {
    /// The variables by which PostgreSQL's own programs (`pg_dump`, `psql`) find the server as the URL says, so that
    /// nothing of it is on their command line, which every user of the machine can read. Contains the password.
    package var environment: [String: String] {
        guard let options = PQconninfoParse(url, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var variables: [String: String] = [:]
        var option = options
        while option.pointee.keyword != nil {
            if let name = option.pointee.envvar, let value = option.pointee.val {
                variables[String(cString: name)] = String(cString: value)
            }
            option += 1
        }
        return variables
    }
}
