internal import ClusterState
package import Logging
internal import Metrics
internal import NIOCore
import ServiceLifecycle
package import SignalingProtocol
internal import SignalingWire

/// Takes a service's commands from its streams, hands each to its handler, and publishes the answers.
///
/// At least once: what a dead instance leaves is claimed by another. A command past its deadline is dropped: who sent it
/// has been told `timeout`. A post, which nobody waits for, is tried until it is done. What fails every instance that
/// takes it is set aside after some deliveries, to `dead:SERVICE`. On graceful shutdown nothing new is read, and what is
/// being handled is finished.
package struct CommandConsumer: Service {
    /// Bounds and times of a consumer.
    package struct Limits: Sendable {
        /// Commands in work at once; default 1024. More stay on the stream.
        package var inFlight = 1024
        /// Entries of one read of each stream; default 128.
        package var batch = 128
        /// How long an entry shows no life before another instance takes it; default 2.5 s.
        package var abandonedAfter: Duration = .milliseconds(2500)
        /// Deliveries after which an entry that no instance could handle is set aside; default 5. An outage of a store does
        /// not count.
        package var deliveries = 5
        /// How long a consumer is silent before it is removed; default 1 h.
        package var consumerGoneAfter: Duration = .seconds(3600)

        /// The defaults.
        package init() {}
    }

    private let service: ServiceName
    private let streams: [String]
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
    package init(
        service: ServiceName, instance: String, configuration: RedisConfiguration, connection: RedisConnection,
        router: CommandRouter, limits: Limits = Limits(), logger: Logger
    ) {
        self.service = service
        streams = [KeySpace.commands(service), KeySpace.posts(service)]
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
    package init(
        bridge: GatewayID, configuration: RedisConfiguration, connection: RedisConnection, router: CommandRouter,
        limits: Limits = Limits(), logger: Logger
    ) {
        service = .sipBridge
        streams = [KeySpace.commands(bridge)]
        isOrdered = true
        instance = bridge.rawValue
        self.configuration = configuration
        self.connection = connection
        self.router = router
        self.limits = limits
        self.logger = logger
    }

    /// Makes the streams, for senders who never make one; ``run()`` does so too, but only some time after its start.
    /// - Throws: `RedisError`.
    package func createStream() async throws(RedisError) {
        for group in groups(connection) { try await group.create() }
    }

    private func groups(_ reader: RedisConnection) -> [ConsumerGroup] {
        streams.map { ConsumerGroup(stream: $0, consumer: instance, reader: reader, connection: connection) }
    }

    /// Runs until graceful shutdown or cancellation. Errors of Redis are waited out.
    package func run() async throws {
        let reader = RedisConnection.blockingReader(configuration, on: connection.eventLoop, logger: logger)
        reader.start()
        let works = works(reader)
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            await withTaskGroup { tasks in
                tasks.addTask { await keepAlive(works) }
                if isOrdered { await readInOrder(works[0]) } else { await read(works) }
                tasks.cancelAll()
            }
            for work in works { await work.finishing?.drain() }
        }
        await reader.close()
    }

    private func works(_ reader: RedisConnection) -> [CommandWork] {
        let inFlight = InFlightEntries(bound: limits.inFlight)
        let metrics = CommandMetrics(
            service: service, streams: isOrdered ? ["orders"] : ["commands", "posts"],
            operations: router.routes.keys)
        return groups(reader).enumerated().map { place, group in
            CommandWork(
                service: service, group: group, place: place, isPosts: place == 1, router: router, inFlight: inFlight,
                metrics: metrics, logger: logger, deliveryBound: limits.deliveries,
                recent: isOrdered ? RecentCommands() : nil,
                finishing: isOrdered ? nil : EntryFinishing(group: group, logger: logger))
        }
    }

    /// Reads, and claims about once a second, until shutdown; returns when all that was read is handled.
    private func read(_ works: [CommandWork]) async {
        let groups = works.map(\.group)
        await withDiscardingTaskGroup { handlers in
            var lastClaim = ContinuousClock.now
            var cursors = works.map { _ in "0-0" }
            var failures = 0
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                let count = min(limits.batch, await works[0].inFlight.room())
                do {
                    var claimed = 0
                    if lastClaim.duration(to: .now) >= .milliseconds(900) {
                        lastClaim = .now
                        for (place, work) in works.enumerated() {
                            let entries = try await claim(work, count, &cursors[place])
                            claimed += entries.count
                            for (entry, deliveries) in entries where work.inFlight.add(work.name(of: entry)) {
                                handlers.addTask { await work.handle(entry, deliveries: deliveries) }
                            }
                        }
                    }
                    if claimed == 0 {
                        for (place, entry) in try await ConsumerGroup.read(groups, count: count) {
                            let work = works[place]
                            guard work.inFlight.add(work.name(of: entry)) else { continue }
                            handlers.addTask { await work.handle(entry) }
                        }
                    }
                    failures = 0
                } catch {
                    logger.debug("no commands can be read", metadata: ["error": "\(error)"])
                    await pause(failures)
                    failures += 1
                }
            }
        }
    }

    /// Takes over what shows no life, and looks how often it has been delivered.
    private func claim(
        _ work: CommandWork, _ count: Int, _ cursor: inout String
    ) async throws(RedisError) -> [(StreamEntry, Int64)] {
        let idle = Int64(limits.abandonedAfter / .milliseconds(1))
        let entries = try await work.group.claim(minIdle: idle, count: count, cursor: &cursor)
        guard !entries.isEmpty else { return [] }
        work.metrics.claimed.increment(by: entries.count)
        return Array(zip(entries, await work.group.deliveries(of: entries.map(\.id))))
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
                for entry in entries where finishedAll && work.inFlight.add(work.name(of: entry)) {
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

    /// Each second a sign of life for what takes long; every ten the backlogs; each minute consumers that are gone.
    private func keepAlive(_ works: [CommandWork]) async {
        var rounds = 0
        while !Task.isCancelled {
            for work in works {
                let old = work.inFlight.older(than: .seconds(1), in: work.place)
                // A missing group (before the first read) or an outage: the next round will do.
                if !old.isEmpty { _ = try? await connection.execute(work.group.keep(old)) }
                if rounds % 10 == 0 {
                    let length = try? await connection.execute(RedisCommand("XLEN", .string(work.group.stream)))
                    if let length = length?.int { work.metrics.backlogs[work.place].record(length) }
                }
                if rounds % 60 == 0 {
                    let idle = Int64(limits.consumerGoneAfter / .milliseconds(1))
                    _ = try? await work.group.removeConsumers(idle: idle)
                }
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
