internal import DequeModule
package import Logging
internal import ServiceMetrics
internal import Synchronization

/// A small pool of connections, each with its own thread.
///
/// A query that finds all connections busy waits for one, in order of arrival. While PostgreSQL is down or hangs,
/// queries fail at once with ``PostgresError/Kind/closed`` (see ``PostgresBreaker``), and the pool probes it in
/// the background until it answers.
package final class PostgresPool: Sendable {
    /// What a pool is for; each purpose has metrics of its own.
    package enum Purpose: Sendable {
        case general
        /// Long lists, which must not delay other queries.
        case lists
    }

    private struct Waiter {
        var deadline: ContinuousClock.Instant
        var continuation: CheckedContinuation<Result<PostgresConnection, PostgresError>, Never>
    }

    private struct State {
        var idle: [PostgresConnection]
        var waiters: Deque<Waiter> = []
        var isClosed = false
        var breaker: PostgresBreaker
    }

    /// The server's address and the time and size limits.
    package let configuration: PostgresConfiguration
    private let logger: Logger
    private let hosts: PostgresHosts
    private let state: Mutex<State>
    private let metrics: PostgresMetrics

    /// Creates a pool; connections are opened when first used.
    /// - Parameters:
    ///   - connections: the number of connections, at least 1; default 2.
    ///   - purpose: under which metrics the pool counts; default ``Purpose/general``.
    package init(
        configuration: PostgresConfiguration, connections: Int = 2, purpose: Purpose = .general, logger: Logger
    ) {
        let metrics = PostgresMetrics.of(purpose)
        self.metrics = metrics
        self.configuration = configuration
        self.logger = logger
        let hosts = PostgresHosts(count: configuration.hosts.count)
        self.hosts = hosts
        state = Mutex(State(idle: [], breaker: PostgresBreaker(longestPause: configuration.longestBackOff)))
        let idle = (0..<max(1, connections)).map { _ in
            PostgresConnection(configuration: configuration, hosts: hosts, metrics: metrics, logger: logger) {
                [weak self] in
                self?.failed($0)
            }
        }
        state.withLock { $0.idle = idle }
    }

    /// Runs one statement, which is prepared once per connection.
    /// - Parameter time: the time limit, including the wait for a free connection; nil for
    ///   ``PostgresConfiguration/queryTimeout``, which excludes that wait.
    /// - Throws: ``PostgresError``: the server's SQLSTATE, or a kind of this library's own. After `closed` and
    ///   `timeout` it is unknown whether the statement took effect; the pool never repeats a statement.
    @discardableResult
    package func query(
        _ sql: String, _ parameters: [PostgresParameter] = [], within time: Duration? = nil
    ) async throws(PostgresError) -> PostgresRows {
        if let refusal = state.withLock({ $0.breaker.refusal }) {
            metrics.breakerRefused.increment()
            throw refusal
        }
        let started = ContinuousClock.now
        defer { metrics.queries.record(ContinuousClock.now - started) }
        do {
            return try await withConnection(within: time) { connection async throws(PostgresError) in
                let left = time.map { max(.milliseconds(1), $0 - (ContinuousClock.now - started)) }
                return try await connection.query(sql, parameters, timeout: left)
            }
        } catch {
            metrics.failures.increment(error.counted)
            throw error
        }
    }

    /// Checks that the server answers.
    /// - Throws: ``PostgresError`` when it does not.
    package func ping() async throws(PostgresError) { try await query("SELECT 1") }

    /// Updates the gauges of ``PostgresMetrics``; to be called before they are shown.
    package func observe() {
        let (waiting, idle) = state.withLock { ($0.waiters.count, $0.idle.count) }
        metrics.waiting.set(waiting)
        metrics.idle.set(idle)
    }

    /// Whether ``ping()`` succeeds.
    package var isReachable: Bool {
        get async {
            do throws(PostgresError) { try await ping() } catch { return false }
            return true
        }
    }

    /// Closes each connection after its current query; later and waiting queries fail.
    package func close() async {
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

    /// Lends one connection to `body`, for work that must stay on one connection: transactions and session locks.
    func withConnection<Value: Sendable>(
        within time: Duration? = nil, _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let connection = try await acquire(within: time ?? configuration.queryTimeout).get()
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

    private func acquire(within time: Duration) async -> Result<PostgresConnection, PostgresError> {
        let deadline = ContinuousClock.now + time
        let bound = configuration.waitingQueries
        return await withCheckedContinuation { continuation in
            let answer: Result<PostgresConnection, PostgresError>? = state.withLock { state in
                if state.isClosed { return .failure(Self.closed) }
                if let connection = state.idle.popLast() { return .success(connection) }
                if state.waiters.count >= bound {
                    return .failure(PostgresError(.full, "\(bound) queries already wait for a connection"))
                }
                state.waiters.append(Waiter(deadline: deadline, continuation: continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Hands the connection to the first waiter whose time limit has not passed; waiters past theirs fail.
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
        let timeout = PostgresError(.timeout, "no connection was free in time")
        for waiter in late { waiter.continuation.resume(returning: .failure(timeout)) }
        next?.continuation.resume(returning: .success(connection))
        return isClosed
    }
}

// The circuit breaker.
extension PostgresPool {
    /// Called when PostgreSQL cannot be reached or did not answer in time.
    private func failed(_ error: PostgresError) {
        let (action, refusal, waiters) = state.withLock { state -> (PostgresBreaker.Action, PostgresError?, [Waiter]) in
            guard !state.isClosed else { return (.none, nil, []) }
            let action = state.breaker.failed(error)
            guard action != .none else { return (.none, nil, []) }
            let waiters = Array(state.waiters)
            state.waiters = []
            return (action, state.breaker.refusal, waiters)
        }
        guard case .probe = action else { return }
        metrics.breakerOpened.increment()
        metrics.breakerOpen.set(true)
        logger.warning("PostgreSQL does not answer; failing queries until it does", metadata: ["error": "\(error)"])
        let failure = refusal ?? error
        for waiter in waiters { waiter.continuation.resume(returning: .failure(failure)) }
        // A separate task, so that the query that met the failure need not wait for the probes. It ends when a probe
        // succeeds or the pool is closed.
        Task { [weak self, configuration, hosts, metrics, logger] in
            let probe = PostgresConnection(configuration: configuration, hosts: hosts, metrics: metrics, logger: logger)
            var next = action
            while case .probe(let pause) = next {
                if pause > .zero { try? await Task.sleep(for: pause * Double.random(in: 0.5...1)) }
                guard self?.probes() == true else { break }
                var failure: PostgresError?
                do throws(PostgresError) {
                    _ = try await probe.query("SELECT 1", [], timeout: configuration.actTimeout)
                } catch {
                    failure = error
                }
                next = self?.probed(failure) ?? .none
            }
            await probe.disconnect()
        }
    }

    /// Tells the breaker that a probe is about to be sent.
    /// - Returns: false when the pool is closed.
    private func probes() -> Bool {
        state.withLock { state in
            state.breaker.probes()
            return !state.isClosed
        }
    }

    private func probed(_ error: PostgresError?) -> PostgresBreaker.Action {
        let action = state.withLock { $0.breaker.probed(error) }
        if action == .resume {
            metrics.breakerOpen.set(false)
            logger.notice("PostgreSQL answers again")
        }
        return action
    }
}
