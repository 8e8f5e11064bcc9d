/// The order in which the hosts of a PostgreSQL URL are tried: first the one that answered last;
/// after a failure, the next one.
struct HostOrder: Equatable, Sendable {
    private let count: Int
    private var preferred = 0

    /// Starts with the first host.
    /// - Parameter count: the number of hosts, at least 1.
    init(count: Int) { self.count = max(1, count) }

    /// The indices of all hosts, in the order in which to try them.
    var indices: [Int] { (0..<count).map { (preferred + $0) % count } }

    /// Notes that a host can be used: later attempts start with it.
    mutating func succeeded(_ host: Int) { preferred = host }

    /// Notes that a host cannot be used. Later attempts start with the next one, unless
    /// they already start with another.
    mutating func failed(_ host: Int) {
        if preferred == host { preferred = (host + 1) % count }
    }
}

/// The attempt to open one connection: which host is next and, when none can be used, the error.
struct HostAttempts: Equatable, Sendable {
    private var left: ArraySlice<Int>
    private var failures: [PostgresError] = []

    /// Starts an attempt.
    /// - Parameter order: the hosts' indices, in the order in which to try them.
    init(_ order: [Int]) { left = order[...] }

    /// The next host; nil when all have been tried.
    mutating func next() -> Int? { left.popFirst() }

    /// Notes that the last host that ``next()`` returned cannot be used.
    mutating func failed(_ error: PostgresError) { failures.append(error) }

    /// The error of an attempt that has found no host: of kind `standby` only when every host is known to be a standby.
    /// If one could not be asked, it may be the primary, and its error is the one that matters.
    var failure: PostgresError {
        guard let last = failures.last else {
            return PostgresError(.timeout, "no time was left to connect to PostgreSQL")
        }
        if let cause = failures.last(where: { $0.kind != .standby }) {
            return cause.kind == nil ? PostgresError(.closed, cause.description) : cause
        }
        guard left.isEmpty else { return PostgresError(.closed, last.message) }
        return failures.count == 1 ? last : PostgresError.onlyStandbys
    }
}
