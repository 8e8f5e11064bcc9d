/// What one server of the PostgreSQL URL says of itself.
package struct PostgresServerState: Equatable, Sendable {
    /// Whether the server takes writes, as far as replication is concerned.
    package enum Role: Equatable, Sendable {
        case primary
        case standby
        /// It could not be asked, with the reason.
        case silent(String)
    }

    /// Its host and port.
    package var name: String
    package var role: Role
    /// Whether its transactions are read-only by default.
    var isReadOnly = false
    /// `synchronous_standby_names`.
    var synchronousNames = ""
    /// The standbys that receive its changes, and how many of them its commits may wait for.
    package var followers = 0
    var synchronousFollowers = 0
    /// How many bytes of changes the slowest of them has yet to apply.
    package var lag: Int64 = 0
    /// The release as a number, such as 150004; 0 when it does not tell.
    var release: Int64 = 0
    /// The release as people write it, such as 15.4.
    package var version: String { "\(release / 10_000).\(release % 10_000)" }
    /// How many connections there are to all databases, and may be.
    package var connections: Int64 = 0
    package var mostConnections: Int64 = 0
    /// Between which bounds the server's clock is ahead of this machine's, in milliseconds.
    var clockLead: ClosedRange<Int64>?
}

/// What is wrong with PostgreSQL, or could be better.
package struct PostgresInspection: Equatable, Sendable {
    /// What does not work, or will not at the next failure.
    package private(set) var wrong: [String] = []
    /// What works, and could be better.
    package private(set) var advice: [String] = []
    /// One line about each server that answers.
    package private(set) var facts: [String] = []
    /// Between which bounds the clocks of the servers that answer are ahead of this machine's, in milliseconds.
    package private(set) var clocks: [Clock] = []

    /// The clock of a server.
    package struct Clock: Equatable, Sendable {
        package var server: String
        package var lead: ClosedRange<Int64>
    }

    /// The oldest release with what is used of it.
    private static let leastRelease: Int64 = 150_000
    /// The part of the connections that may be in use.
    private static let fullness = 0.9

    /// A standby that is further behind would lose, or need, a noticeable time of changes.
    private static let lagBound: Int64 = 64 << 20

    /// Judges the servers of a URL.
    init(of servers: [PostgresServerState]) {
        for server in servers {
            if case .silent(let reason) = server.role { wrong.append("\(server.name) does not answer: \(reason)") }
            if server.release > 0 { look(at: server) }
        }
        let primaries = servers.filter { $0.role == .primary }
        if primaries.count > 1 {
            let names = primaries.map(\.name).joined(separator: " and ")
            wrong.append("\(names) are primaries: stop the one that was replaced, and let it follow the other")
        } else if primaries.isEmpty, servers.contains(where: { $0.role == .standby }) {
            wrong.append("no server is a primary: promote a standby")
        }
        for primary in primaries { judge(primary, hasOthers: servers.count > 1) }
    }

    private mutating func look(at server: PostgresServerState) {
        let role = server.role == .primary ? "primary" : "standby"
        facts.append(
            "PostgreSQL \(server.version) at \(server.name), \(role), "
                + "\(server.connections) of \(server.mostConnections) connections"
        )
        if server.release < Self.leastRelease {
            wrong.append("\(server.name) is PostgreSQL \(server.version): install 15 or later")
        }
        if Double(server.connections) > Double(server.mostConnections) * Self.fullness {
            wrong.append(
                "\(server.name) has \(server.connections) of \(server.mostConnections) connections: raise "
                    + "max_connections, or end those that nobody needs (pg_stat_activity)")
        }
        if let lead = server.clockLead { clocks.append(Clock(server: server.name, lead: lead)) }
    }

    private mutating func judge(_ primary: PostgresServerState, hasOthers: Bool) {
        if primary.isReadOnly {
            wrong.append(
                "\(primary.name) takes no writes: default_transaction_read_only is on; turn it off, or promote another")
        }
        if !primary.synchronousNames.isEmpty, primary.synchronousFollowers == 0 {
            wrong.append(
                "\(primary.name) waits for a standby at each commit (synchronous_standby_names), and none is "
                    + "connected: start one, or empty the setting")
        } else if hasOthers, primary.followers == 0 {
            wrong.append("no standby follows \(primary.name): start it, or make it anew with pg_basebackup")
        } else if hasOthers, primary.synchronousNames.isEmpty {
            advice.append(
                "\(primary.name) waits for no standby (synchronous_standby_names is empty): changes of the last moment "
                    + "before a failover are lost")
        }
        if primary.lag > Self.lagBound {
            advice.append(
                "a standby of \(primary.name) is \(primary.lag >> 20) MiB behind: see what holds it up "
                    + "(pg_stat_replication)"
            )
        }
    }

    /// Adds what is to be said of the call log.
    /// - Parameters:
    ///   - nextMonthIsMissing: whether calls that begin in four weeks have no month.
    ///   - calls: the number of calls that wait for their month.
    mutating func judgeCallLog(nextMonthIsMissing: Bool, waiting calls: Int64) {
        if nextMonthIsMissing {
            advice.append(
                "the call log's next month is not made: does an invitation service run, and does its user own the "
                    + "table calls?"
            )
        }
        if calls > 0 { advice.append("\(calls) calls are in no month (calls_rest)") }
    }
}
