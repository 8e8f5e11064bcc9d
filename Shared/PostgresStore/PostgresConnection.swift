internal import Logging
internal import Metrics

/// One connection of the pool: an actor whose executor is its own thread, where libpq may block.
///
/// Connects when first used and again after the connection broke, no sooner than a jittered back-off allows.
actor PostgresConnection {
    private let executor = ThreadExecutor()
    private let configuration: PostgresConfiguration
    private let logger: Logger
    private var link: PostgresLink?
    private var failures = 0
    private var retryAt = ContinuousClock.now
    private var lastFailure = PostgresError(.closed, "not connected yet")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    deinit { executor.stop() }

    /// Runs one statement.
    /// - Parameter timeout: nil for the configuration's.
    func query(
        _ sql: String, _ parameters: [PostgresParameter], timeout: Duration? = nil
    ) throws(PostgresError) -> PostgresRows {
        try perform { link throws(PostgresError) in
            try link.query(sql, parameters, until: deadline(timeout))
        }
    }

    /// Runs statements separated by semicolons.
    func script(_ sql: String, timeout: Duration? = nil) throws(PostgresError) {
        try perform { link throws(PostgresError) in try link.script(sql, until: deadline(timeout)) }
    }

    /// Closes the connection, and with it an open transaction; the next query connects anew.
    func disconnect() { link = nil }

    private func perform<Result>(
        _ body: (PostgresLink) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        let link = try connected()
        do {
            return try body(link)
        } catch {
            if Self.endsConnection(error) {
                self.link = nil
                logger.warning("connection to PostgreSQL lost", metadata: ["error": "\(error)"])
            }
            throw error
        }
    }

    private func connected() throws(PostgresError) -> PostgresLink {
        if let link, !link.isStale() { return link }
        link = nil
        guard ContinuousClock.now >= retryAt else { throw lastFailure }
        do {
            let link = try PostgresLink(configuration: configuration)
            Counter(label: "heliograph_postgres_connects_total").increment()
            logger.debug("connected to PostgreSQL")
            self.link = link
            failures = 0
            return link
        } catch {
            Counter(label: "heliograph_postgres_connect_failures_total").increment()
            logger.warning("no connection to PostgreSQL", metadata: ["error": "\(error)"])
            let backOff = min(Duration.milliseconds(50 << min(failures, 10)), configuration.longestBackOff)
            retryAt = ContinuousClock.now + backOff * Double.random(in: 0.5...1)
            failures += 1
            lastFailure = error.kind == nil ? PostgresError(.closed, error.description) : error
            throw lastFailure
        }
    }

    private func deadline(_ timeout: Duration?) -> ContinuousClock.Instant {
        // The server's own timeout comes first: it leaves the connection usable.
        ContinuousClock.now + (timeout ?? configuration.queryTimeout) + .milliseconds(500)
    }

    /// Our own closed and timeout; the server's 08 (connection), 57P (shutdown); and what a change of the schema under
    /// prepared statements gives (0A000, 26000), which a new connection cures.
    private static func endsConnection(_ error: PostgresError) -> Bool {
        error.kind == .closed || error.kind == .timeout || error.code.hasPrefix("08") || error.code.hasPrefix("57P")
            || error.code == "0A000" || error.code == "26000"
    }
}
