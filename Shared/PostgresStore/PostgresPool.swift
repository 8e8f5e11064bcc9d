internal import DequeModule
public import Logging
internal import Metrics
internal import Synchronization

/// A few connections, each with its own thread, that share the queries.
///
/// A query that finds all of them busy waits its turn, in order. When PostgreSQL is away, queries fail at once with
/// ``PostgresError/Kind/closed`` and the pool connects again by itself as soon as it is back.
public final class PostgresPool: Sendable {
    private struct Waiter {
        var deadline: ContinuousClock.Instant
        var continuation: CheckedContinuation<Result<PostgresConnection, PostgresError>, Never>
    }

    private struct State {
        var idle: [PostgresConnection]
        var waiters: Deque<Waiter> = []
        var isClosed = false
    }

    /// The bounds and the address.
    public let configuration: PostgresConfiguration
    private let state: Mutex<State>

    /// Makes a pool; connections are opened when first used.
    /// - Parameter connections: how many, at least one; default 2.
    public init(configuration: PostgresConfiguration, connections: Int = 2, logger: Logger) {
        self.configuration = configuration
        let idle = (0..<max(1, connections)).map { _ in
            PostgresConnection(configuration: configuration, logger: logger)
        }
        state = Mutex(State(idle: idle))
    }

    /// Runs one statement, prepared once per connection.
    /// - Throws: ``PostgresError``: the server's SQLSTATE, or one of our own kinds. After closed and timeout it is
    ///   unknown whether the statement took effect; nothing is repeated here.
    @discardableResult
    public func query(
        _ sql: String, _ parameters: [PostgresParameter] = []
    ) async throws(PostgresError) -> PostgresRows {
        let started = ContinuousClock.now
        defer { Timer(label: "heliograph_postgres_query_seconds").record(duration: ContinuousClock.now - started) }
        do {
            return try await withConnection { connection async throws(PostgresError) in
                try await connection.query(sql, parameters)
            }
        } catch {
            Counter(label: "heliograph_postgres_query_failures_total", dimensions: [("code", error.code)]).increment()
            throw error
        }
    }

    /// Asks the server for a sign of life.
    /// - Throws: ``PostgresError`` that says why there is none.
    public func ping() async throws(PostgresError) { try await query("SELECT 1") }

    /// Whether ``ping()`` succeeds.
    public var isReachable: Bool {
        get async {
            do throws(PostgresError) { try await ping() } catch { return false }
            return true
        }
    }

    /// Closes the connections, each when its present query is over; later and waiting queries fail.
    public func close() async {
        let (idle, waiters) = state.withLock { state in
            let old = (state.idle, state.waiters)
            state.isClosed = true
            state.idle = []
            state.waiters = []
            return old
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(Self.closed)) }
        for connection in idle { await connection.disconnect() }
    }

    /// Lends one connection to `body`, for transactions and session locks.
    func withConnection<Value: Sendable>(
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let connection = try await acquire().get()
        let result: Result<Value, PostgresError>
        do {
            result = .success(try await body(connection))
        } catch {
            result = .failure(error)
        }
        if release(connection) { await connection.disconnect() }
        return try result.get()
    }

    private static let closed = PostgresError(.closed, "the pool is closed")

    private func acquire() async -> Result<PostgresConnection, PostgresError> {
        let deadline = ContinuousClock.now + configuration.queryTimeout
        let bound = configuration.waitingQueries
        return await withCheckedContinuation { continuation in
            let answer: Result<PostgresConnection, PostgresError>? = state.withLock { state in
                if state.isClosed { return .failure(Self.closed) }
                if let connection = state.idle.popLast() { return .success(connection) }
                if state.waiters.count >= bound {
                    return .failure(PostgresError(.full, "\(bound) queries wait for a connection already"))
                }
                state.waiters.append(Waiter(deadline: deadline, continuation: continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Hands the connection to the first waiter whose time is not over, and tells the others.
    /// - Returns: true when the pool has been closed meanwhile.
    private func release(_ connection: PostgresConnection) -> Bool {
        let now = ContinuousClock.now
        let (late, next, isClosed) = state.withLock { state -> ([Waiter], Waiter?, Bool) in
            if state.isClosed { return ([], nil, true) }
            var late: [Waiter] = []
            while let waiter = state.waiters.popFirst() {
                if waiter.deadline >= now { return (late, waiter, false) }
                late.append(waiter)
            }
            state.idle.append(connection)
            return (late, nil, false)
        }
        let timeout = PostgresError(.timeout, "no connection was free for \(configuration.queryTimeout)")
        for waiter in late { waiter.continuation.resume(returning: .failure(timeout)) }
        next?.continuation.resume(returning: .success(connection))
        return isClosed
    }
}
