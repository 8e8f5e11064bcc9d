internal import CPostgres

/// Where PostgreSQL is and how long to wait for it.
package struct PostgresConfiguration: Sendable {
    /// The connection URL as libpq takes it (`postgresql://user:password@host:port/database?sslmode=...`). Holds a
    /// password: never logged.
    package let url: String
    /// What the URL says of its hosts, one after the other: libpq's `host`, `hostaddr` and `port`.
    let hosts: [[String: String]]
    /// How long a connection attempt to one host may take; default 3 s.
    package var connectTimeout: Duration = .seconds(3)
    /// How long a query may take, the wait for a free connection not counted; default 5 s. The server is told by
    /// `statement_timeout`; half a second later the client gives up and drops the connection.
    package var queryTimeout: Duration = .seconds(5)
    /// How long a query may take that somebody waits for, the wait for a free connection counted; default 1 s. Past it the
    /// connection is dropped, and whether a change took effect is unknown.
    package var actTimeout: Duration = .seconds(1)
    /// The same for one that writes; default 2 s.
    package var changeTimeout: Duration = .seconds(2)
    /// Queries that may wait for a free connection of the pool; default 4096. Beyond it they fail with `FULL`.
    package var waitingQueries = 4096
    /// Prepared statements kept per connection; default 128. Beyond it, statements run unprepared.
    package var preparedStatements = 128
    /// The longest pause between two looks whether a PostgreSQL that did not answer is back; default 1 s. Queries fail at
    /// once until it is.
    package var longestBackOff: Duration = .seconds(1)

    /// Takes a checked URL; nothing is connected.
    /// - Throws: ``PostgresError`` with code `CONFIGURATION` when libpq cannot read it.
    package init(url: String) throws(PostgresError) {
        guard !url.utf8.contains(0), url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else {
            throw PostgresError(.configuration, "the PostgreSQL URL does not start with postgresql://")
        }
        // libpq's own message may quote the URL, and with it the password.
        guard let options = PQconninfoParse(url, nil) else {
            throw PostgresError(.configuration, "the PostgreSQL URL cannot be read by libpq")
        }
        defer { PQconninfoFree(options) }
        self.url = url
        hosts = Self.hosts(of: options)
    }

    /// The lists of hosts, addresses and ports, which libpq has found to fit each other: one port may stand for all.
    private static func hosts(of options: UnsafeMutablePointer<PQconninfoOption>) -> [[String: String]] {
        var lists: [String: [String]] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            let name = String(cString: keyword)
            if ["host", "hostaddr", "port"].contains(name), let value = option.pointee.val {
                lists[name] = String(cString: value).split(separator: ",", omittingEmptySubsequences: false).map(
                    String.init)
            }
            option += 1
        }
        let count = lists.values.map(\.count).max() ?? 1
        return (0..<count).map { index in
            lists.compactMapValues { $0.count == 1 ? $0[0] : index < $0.count ? $0[index] : nil }
        }
    }
}
