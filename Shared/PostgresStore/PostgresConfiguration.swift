internal import CPostgres

/// Where PostgreSQL is and how long to wait for it.
public struct PostgresConfiguration: Sendable {
    /// The connection URL as libpq takes it (`postgresql://user:password@host:port/database?sslmode=...`). Holds a
    /// password: never logged.
    public let url: String
    /// How long a connection attempt may take; default 3 s.
    public var connectTimeout: Duration = .seconds(3)
    /// How long a query may take, the wait for a free connection not counted; default 5 s. The server is told by
    /// `statement_timeout`; half a second later the client gives up and drops the connection.
    public var queryTimeout: Duration = .seconds(5)
    /// Queries that may wait for a free connection of the pool; default 4096. Beyond it they fail with `FULL`.
    public var waitingQueries = 4096
    /// Prepared statements kept per connection; default 128. Beyond it, statements run unprepared.
    public var preparedStatements = 128
    /// The longest pause between two connection attempts; default 1 s. Queries in the pause fail at once.
    public var longestBackOff: Duration = .seconds(1)

    /// Takes a checked URL; nothing is connected.
    /// - Throws: ``PostgresError`` with code `CONFIGURATION` when libpq cannot read it.
    public init(url: String) throws(PostgresError) {
        guard !url.utf8.contains(0), url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else {
            throw PostgresError(.configuration, "the PostgreSQL URL does not start with postgresql://")
        }
        // libpq's own message may quote the URL, and with it the password.
        guard let options = PQconninfoParse(url, nil) else {
            throw PostgresError(.configuration, "the PostgreSQL URL cannot be read by libpq")
        }
        PQconninfoFree(options)
        self.url = url
    }
}
