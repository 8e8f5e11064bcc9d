internal import Logging
internal import ServiceMetrics

/// One connection of the pool: an actor that runs on its own thread, because libpq's calls block.
///
/// Connects when first used, and again after the connection broke.
actor PostgresConnection {
    private let executor = ThreadExecutor()
    private let configuration: PostgresConfiguration
    private let logger: Logger
    private let hosts: PostgresHosts
    private let metrics: PostgresMetrics
    /// Called when PostgreSQL cannot be reached or did not answer in time.
    private let onFailure: @Sendable (PostgresError) -> Void
    private var link: PostgresLink?
    /// The link on which a transaction has begun.
    private var transaction: ObjectIdentifier?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        configuration: PostgresConfiguration, hosts: PostgresHosts, metrics: PostgresMetrics, logger: Logger,
        onFailure: @escaping @Sendable (PostgresError) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.hosts = hosts
        self.metrics = metrics
        self.onFailure = onFailure
    }

    deinit { executor.stop() }

    /// Runs one statement.
    /// - Parameter timeout: the time limit; nil for the configuration's.
    func query(
        _ sql: String, _ parameters: [PostgresParameter], timeout: Duration? = nil
    ) throws(PostgresError) -> PostgresRows {
        // An explicit time limit includes the time to connect.
        let end = timeout.map { ContinuousClock.now + $0 }
        return try perform(until: end) { link throws(PostgresError) in
            try link.query(sql, parameters, until: end ?? deadline(nil))
        }
    }

    /// Runs statements separated by semicolons.
    func script(_ sql: String, timeout: Duration? = nil) throws(PostgresError) {
        try perform { link throws(PostgresError) in try link.script(sql, until: deadline(timeout)) }
    }

    /// Begins a transaction by a script; ``continued(_:_:timeout:)`` and ``commit()`` belong to it.
    func begin(_ sql: String) throws(PostgresError) {
        try script(sql)
        transaction = link.map(ObjectIdentifier.init)
    }

    /// Runs a statement of the transaction. Unlike others it never connects anew, outside of the transaction.
    func continued(
        _ sql: String, _ parameters: [PostgresParameter], timeout: Duration? = nil
    ) throws(PostgresError) -> PostgresRows {
        let link = try begun()
        do throws(PostgresError) {
            return try perform(on: link) { link throws(PostgresError) in
                try link.query(sql, parameters, until: deadline(timeout))
            }
        } catch {
            // PostgreSQL answers COMMIT after a failed statement without an error, and rolls back.
            transaction = nil
            throw error
        }
    }

    /// Ends the transaction, and keeps what it did.
    func commit() throws(PostgresError) {
        try perform(on: try begun()) { link throws(PostgresError) in
            try link.script("COMMIT", until: deadline(nil))
        }
        transaction = nil
    }

    private func begun() throws(PostgresError) -> PostgresLink {
        guard let link, ObjectIdentifier(link) == transaction else {
            throw PostgresError(.closed, "the transaction has failed: nothing of it is kept")
        }
        return link
    }

    /// Closes the connection, and with it an open transaction; the next query connects anew.
    func disconnect() {
        link = nil
        transaction = nil
    }

    private func perform<Result>(
        until end: ContinuousClock.Instant? = nil, _ body: (PostgresLink) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        try perform(on: try connected(until: end), body)
    }

    private func perform<Result>(
        on link: PostgresLink, _ body: (PostgresLink) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        do {
            return try body(link)
        } catch {
            if error.endsConnection {
                self.link = nil
                if error.leavesHost { hosts.failed(link.host) }
                logger.warning("lost the connection to PostgreSQL", metadata: ["error": "\(error)"])
                if error.kind == .timeout { onFailure(error) }
            }
            throw error
        }
    }

    private func connected(until end: ContinuousClock.Instant?) throws(PostgresError) -> PostgresLink {
        if let link, !link.isStale() { return link }
        link = nil
        var attempts = hosts.attempts
        while end.map({ ContinuousClock.now < $0 }) ?? true, let host = attempts.next() {
            do {
                let longest = ContinuousClock.now + configuration.connectTimeout
                let link = try PostgresLink(
                    configuration: configuration, host: host, until: min(longest, end ?? longest))
                metrics.connects.increment()
                logger.debug("connected to PostgreSQL", metadata: ["host": "\(configuration.name(of: host))"])
                hosts.succeeded(host)
                self.link = link
                return link
            } catch {
                metrics.connectFailures.increment()
                logger.warning(
                    "could not connect to PostgreSQL",
                    metadata: ["host": "\(configuration.name(of: host))", "error": "\(error)"])
                hosts.failed(host)
                attempts.failed(error)
            }
        }
        let failure = attempts.failure
        onFailure(failure)
        throw failure
    }

    private func deadline(_ timeout: Duration?) -> ContinuousClock.Instant {
        // Half a second more than the server's `statement_timeout`: when that fires first, the connection stays usable.
        ContinuousClock.now + (timeout ?? configuration.queryTimeout + .milliseconds(500))
    }
}
