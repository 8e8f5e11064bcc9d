package import ClusterState
package import Logging
package import NIOCore

/// Redis as its clients use it: a single server, the master that Sentinels name, or all masters of a Redis
/// Cluster. The same calls work on all.
///
/// A single server is used through one ``RedisConnection``, with nothing in between. In a cluster every command goes to
/// the master of its slot (``RedisCommand/inSlot(_:)``); ``ClusterStateMachine`` says how refusals, moved slots and
/// lost masters are dealt with, and which order is kept.
package final class RedisClient: Sendable {
    /// The event loop of ``send(_:repeatedUntil:_:)`` and of all callbacks.
    package let eventLoop: any EventLoop
    /// The partitions of the bus.
    package let bus: BusLayout
    /// Where Redis is, and the limits of each connection.
    let configuration: RedisConfiguration
    let backend: any RedisBackend
    let logger: Logger

    /// Creates a client; ``start()`` connects it.
    /// - Parameters:
    ///   - url: `redis://...` for a single server, `redis+sentinel://HOST,HOST.../NAME` for a master that Sentinels
    ///     name, `redis+cluster://HOST,HOST...` for a cluster; with `rediss` for TLS.
    ///   - libraries: loaded, in the URL's flavour, at each connect into a master that lacks them, and again
    ///     when a called function is missing.
    ///   - configure: changes limits. The number and size of pending commands are those of all masters together.
    /// - Throws: code `URL` with the reason.
    package convenience init(
        url text: String, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary] = [], logger: Logger,
        configure: (inout RedisConfiguration) -> Void = { _ in }
    ) throws(RedisError) {
        var limits = try RedisConfiguration(url: text)
        configure(&limits)
        self.init(configuration: limits, eventLoop: eventLoop, libraries: libraries, logger: logger)
    }

    /// Creates a client as ``init(url:eventLoop:libraries:logger:configure:)`` does.
    /// - Parameter keepsClock: whether to ask a single server for its time; default true. A
    ///   cluster's masters are always asked.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary] = [],
        keepsClock: Bool = true, logger: Logger
    ) {
        // Declares everything that connections count.
        _ = RedisMetrics.shared
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.logger = logger
        bus = configuration.bus
        backend =
            switch configuration.flavour {
            case .single:
                RedisConnection(
                    configuration: configuration, eventLoop: eventLoop, libraries: libraries, keepsClock: keepsClock,
                    logger: logger)
            case .sentinel, .cluster:
                ClusterMasters(
                    configuration: configuration, eventLoop: eventLoop, libraries: libraries, logger: logger)
            }
    }

    /// Starts to connect, and reconnects until ``close()``. May be called from any thread.
    package func start() { backend.start() }

    /// Closes all connections; waiting and later commands fail with `CLOSED`. May be called from any thread.
    package func close() async { await backend.close() }

    /// Whether commands can be sent now: in a cluster, to more than half of the masters. May be read from any thread.
    package var isConnected: Bool { backend.isConnected }

    /// The number of connects so far, of all servers; a change means that there has been an outage of
    /// one. May be read from any thread.
    package var connectionCount: Int { backend.connectionCount }

    // MARK: - Commands

    /// Sends a command; on ``eventLoop`` only. The completion is called there once, possibly before this returns
    /// (`FULL`, `CLOSED`, and in a cluster `SLOT` when the command names no slot). An error reply is a failure.
    ///
    /// In a cluster, commands of one slot take effect in the order in which they were sent. A command that a server
    /// refuses because of the cluster's state, or that was not written when its connection broke, had no effect; it is
    /// sent again until `until`, or for the command timeout.
    /// - Parameter until: for a command that takes effect once even when repeated: if the connection breaks before the
    ///   reply, it is sent again, in order with others of this kind, and completes at this time at the latest (a
    ///   durable one ``RedisConfiguration/replicaTimeout`` later). Default nil: never sent again.
    package func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline? = nil,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        backend.send(command, repeatedUntil: until, completion)
    }

    /// Sends commands without waiting for each other's replies, in one write per server; on ``eventLoop`` only. The
    /// completion is called there once, with one result per command, in order; possibly before this returns.
    package func send(_ commands: [RedisCommand], _ completion: @escaping ([Result<RedisValue, RedisError>]) -> Void) {
        guard !commands.isEmpty else { return completion([]) }
        let results = ResultCollector(count: commands.count, completion: completion)
        for (index, command) in commands.enumerated() { send(command) { results.set(index, $0) } }
    }

    /// Sends commands, and others that must not take effect before them; on ``eventLoop`` only. On one server all are
    /// sent at once. Across servers the later commands wait for the answers to the first, and are not sent at all when
    /// the outcome of one of those is unknown: they fail with its error.
    /// - Parameters:
    ///   - limit: for later commands that may be repeated, and are not worth a wait: how long after they are sent each
    ///     of them completes at the latest; one whose master is away is not sent and fails at once. Default nil: as any
    ///     other command, and never repeated.
    ///   - completion: called once with one result per command, in order.
    package func send(
        _ first: [RedisCommand], then later: [RedisCommand], within limit: Duration? = nil,
        _ completion: @escaping ([Result<RedisValue, RedisError>]) -> Void
    ) {
        let results = ResultCollector(count: first.count + later.count, completion: completion)
        let sendLater = {
            let end = limit.map { NIODeadline.now() + TimeAmount($0) }
            for (index, command) in later.enumerated() {
                if end != nil, !self.isReachable(command) {
                    results.set(first.count + index, .failure(.unsent))
                } else {
                    self.send(command, repeatedUntil: end) { results.set(first.count + index, $0) }
                }
            }
        }
        if keepsOrder(of: first, before: later) {
            for (index, command) in first.enumerated() { send(command) { results.set(index, $0) } }
            return sendLater()
        }
        var awaited = AnswersAwaited(count: first.count)
        for (index, command) in first.enumerated() {
            send(command) { result in
                results.set(index, result)
                switch awaited.answered(result) {
                case .wait: break
                case .send: sendLater()
                case .fail(let error): for place in later.indices { results.set(first.count + place, .failure(error)) }
                }
            }
        }
    }

    private func keepsOrder(of first: [RedisCommand], before later: [RedisCommand]) -> Bool {
        first.isEmpty || backend.keepsOrder { (first + later).compactMap(\.slot) }
    }

    /// Whether commands, and others of a slot after them, take effect in this order when all are sent at once; on
    /// ``eventLoop`` only.
    package func keepsOrder(of commands: [RedisCommand], before slot: UInt16) -> Bool {
        commands.isEmpty || backend.keepsOrder { commands.compactMap(\.slot) + [slot] }
    }

    /// Registers `act` to be called just before the commands of this tick of the loop are written, so that it can
    /// add more; on ``eventLoop`` only.
    package func beforeWriting(_ act: @escaping () -> Void) { backend.beforeWriting(act) }

    /// Sends a command; may be called from any thread.
    /// - Throws: an error reply, `CLOSED`, `TIMEOUT` or `FULL`; in a cluster `SLOT` when the command names no slot.
    package func execute(_ command: RedisCommand) async throws(RedisError) -> RedisValue {
        let result: Result<RedisValue, RedisError> = await withCheckedContinuation { continuation in
            onLoop { self.send(command) { continuation.resume(returning: $0) } }
        }
        return try result.get()
    }

    /// Sends commands without waiting for each other's replies, in one write per server; may be called from any thread.
    /// - Returns: one result per command, in order.
    package func execute(_ commands: [RedisCommand]) async -> [Result<RedisValue, RedisError>] {
        guard !commands.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            onLoop { self.send(commands) { continuation.resume(returning: $0) } }
        }
    }

    /// Waits until enough replicas have what the master of a slot has written until now, as a durable command does:
    /// for an answer that comes from what an earlier command wrote. At once without ``RedisConfiguration/replicas``.
    /// May be called from any thread.
    /// - Throws: `UNREPLICATED`, and as ``execute(_:)-(RedisCommand)`` does.
    package func awaitReplicas(ofSlot slot: UInt16) async throws(RedisError) {
        guard configuration.replicas > 0 else { return }
        _ = try await execute(RedisCommand("PING").inSlot(slot).durable)
    }

    /// Sends commands, and others that must not take effect before them, as ``send(_:then:within:_:)`` does;
    /// may be called from any thread.
    /// - Returns: one result per command, in order.
    package func execute(
        _ first: [RedisCommand], then later: [RedisCommand], within limit: Duration? = nil
    ) async -> [Result<RedisValue, RedisError>] {
        guard !first.isEmpty || !later.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            onLoop { self.send(first, then: later, within: limit) { continuation.resume(returning: $0) } }
        }
    }

    package func onLoop(_ act: @escaping @Sendable () -> Void) {
        if eventLoop.inEventLoop { act() } else { eventLoop.execute(act) }
    }
}
