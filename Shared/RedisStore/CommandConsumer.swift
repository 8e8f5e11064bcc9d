public import Logging
internal import Metrics
internal import NIOCore
public import ServiceLifecycle
public import SignalingProtocol
internal import SignalingWire

/// Takes a service's commands from its stream, hands each to its handler, and publishes the answers.
///
/// At least once: what a dead instance leaves is claimed by another. A command past its deadline is dropped: who sent it
/// has been told `timeout`. On graceful shutdown nothing new is read, and what is being handled is finished.
public struct CommandConsumer: Service {
    /// Bounds and times of a consumer.
    public struct Limits: Sendable {
        /// Commands in work at once; default 1024. More stay on the stream.
        public var inFlight = 1024
        /// Entries of one read; default 128.
        public var batch = 128
        /// How long an entry shows no life before another instance takes it; default 2.5 s.
        public var abandonedAfter: Duration = .milliseconds(2500)
        /// How long a consumer is silent before it is removed; default 1 h.
        public var consumerGoneAfter: Duration = .seconds(3600)

        /// The defaults.
        public init() {}
    }

    private let service: ServiceName
    private let stream: String
    /// Whether this is the stream's only consumer, which handles one command after the other.
    private let isOrdered: Bool
    private let instance: String
    private let configuration: RedisConfiguration
    private let connection: RedisConnection
    private let router: CommandRouter
    private let limits: Limits
    private let logger: Logger

    /// Makes a consumer.
    /// - Parameters:
    ///   - instance: this process' name, unique among the instances of the service.
    ///   - configuration: for a connection of its own, which blocks in reads.
    ///   - connection: for answers and claims.
    public init(
        service: ServiceName, instance: String, configuration: RedisConfiguration, connection: RedisConnection,
        router: CommandRouter, limits: Limits = Limits(), logger: Logger
    ) {
        self.service = service
        stream = KeySpace.commands(service)
        isOrdered = false
        self.instance = instance
        self.configuration = configuration
        self.connection = connection
        self.router = router
        self.limits = limits
        self.logger = logger
    }

    /// Makes a consumer of one sip-bridge's own stream: its commands are handled one at a time, in their order, and
    /// take effect once.
    /// - Parameters: as for the other.
    public init(
        bridge: GatewayID, configuration: RedisConfiguration, connection: RedisConnection, router: CommandRouter,
        limits: Limits = Limits(), logger: Logger
    ) {
        service = .sipBridge
        stream = KeySpace.commands(bridge)
        isOrdered = true
        instance = bridge.rawValue
        self.configuration = configuration
        self.connection = connection
        self.router = router
        self.limits = limits
        self.logger = logger
    }

    /// Makes the stream, for senders who never make one; ``run()`` does so too, but only some time after its start.
    /// - Throws: `RedisError`.
    public func createStream() async throws(RedisError) {
        try await ConsumerGroup(stream: stream, consumer: instance, reader: connection, connection: connection).create()
    }

    /// Runs until graceful shutdown or cancellation. Errors of Redis are waited out.
    public func run() async throws {
        let reader = RedisConnection.blockingReader(configuration, on: connection.eventLoop, logger: logger)
        reader.start()
        let group = ConsumerGroup(
            stream: stream, consumer: instance, reader: reader, connection: connection)
        let work = CommandWork(
            group: group, router: router, inFlight: InFlightEntries(bound: limits.inFlight),
            metrics: CommandMetrics(service: service, operations: router.routes.keys), logger: logger,
            recent: isOrdered ? RecentCommands() : nil,
            finishing: isOrdered ? nil : EntryFinishing(group: group, logger: logger))
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            await withTaskGroup { tasks in
                tasks.addTask { await keepAlive(work) }
                if isOrdered { await readInOrder(work) } else { await read(work) }
                tasks.cancelAll()
            }
            await work.finishing?.drain()
        }
        await reader.close()
    }

    /// Reads, and claims about once a second, until shutdown; returns when all that was read is handled.
    private func read(_ work: CommandWork) async {
        await withDiscardingTaskGroup { handlers in
            var lastClaim = ContinuousClock.now
            var cursor = "0-0"
            var failures = 0
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                let count = min(limits.batch, await work.inFlight.room())
                do {
                    var entries: [StreamEntry] = []
                    if lastClaim.duration(to: .now) >= .milliseconds(900) {
                        lastClaim = .now
                        let idle = Int64(limits.abandonedAfter / .milliseconds(1))
                        entries = try await work.group.claim(minIdle: idle, count: count, cursor: &cursor)
                        work.metrics.claimed.increment(by: entries.count)
                    }
                    if entries.isEmpty { entries = try await work.group.read(count: count) }
                    failures = 0
                    for entry in entries where work.inFlight.add(entry.id) {
                        handlers.addTask { await work.handle(entry) }
                    }
                } catch {
                    logger.debug("no commands can be read", metadata: ["error": "\(error)"])
                    await pause(failures)
                    failures += 1
                }
            }
        }
    }

    /// Reads and handles one command after the other, until shutdown. After any failure, what was given to this consumer
    /// and not finished comes first.
    private func readInOrder(_ work: CommandWork) async {
        var hasUnfinished = true
        var failures = 0
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                let entries =
                    hasUnfinished
                    ? try await work.group.readUnfinished(count: limits.batch)
                    : try await work.group.read(count: limits.batch)
                var finishedAll = true
                for entry in entries where finishedAll && work.inFlight.add(entry.id) {
                    finishedAll = await work.handle(entry)
                }
                if finishedAll {
                    failures = 0
                    // An empty page of the unfinished is their end.
                    if entries.isEmpty { hasUnfinished = false }
                } else {
                    hasUnfinished = true
                    await pause(failures)
                    failures += 1
                }
            } catch {
                logger.debug("no commands can be read", metadata: ["error": "\(error)"])
                hasUnfinished = true
                await pause(failures)
                failures += 1
            }
        }
    }

    /// Each second: the clock, and a sign of life for what takes long; each minute: consumers that are gone.
    private func keepAlive(_ work: CommandWork) async {
        var rounds = 0
        while !Task.isCancelled {
            var commands = [RedisCommand("TIME")]
            let old = work.inFlight.older(than: .seconds(1))
            if !old.isEmpty { commands.append(work.group.keep(old)) }
            if case .success(let time)? = await connection.execute(commands).first { work.clock.set(time) }
            if rounds % 60 == 0 {
                let idle = Int64(limits.consumerGoneAfter / .milliseconds(1))
                // A missing group (before the first read) or an outage: the next round will do.
                _ = try? await work.group.removeConsumers(idle: idle)
            }
            rounds += 1
            await connection.eventLoop.wait(until: .nextTick)
        }
    }

    private func pause(_ failures: Int) async {
        var generator = SystemRandomNumberGenerator()
        let wait = BackOff(base: .milliseconds(100)).delay(attempt: failures, using: &generator)
        await connection.eventLoop.pause(until: .now() + wait)
    }
}
