internal import BusProtocol
internal import ClusterState
package import Logging
internal import NIOCore
internal import Pacing
package import RedisClient
import ServiceLifecycle
internal import ServiceMetrics
package import SignalingProtocol

/// Reads a service's commands from its streams, passes each to its handler, and publishes the replies.
///
/// Delivery is at least once: another instance claims the commands of one that died. A command past its deadline is
/// dropped, since its sender has already been given `timeout`. A command without a reply is retried until it is done. A
/// command that fails on every instance is moved to `dead:SERVICE` after some deliveries. On graceful shutdown nothing
/// new is read, and commands in progress are finished.
package struct CommandConsumer: Service {
    /// Size and time limits of a consumer.
    package struct Limits: Sendable {
        /// The largest number of commands handled at once; default 1024. Further ones wait on the stream.
        package var inFlight = 1024
        /// The largest number of entries that one read takes from each stream; default 128.
        package var batch = 128
        /// How long an entry is not renewed before another instance claims it; default 2.5 s.
        package var abandonedAfter: Duration = .milliseconds(2500)
        /// The number of deliveries after which an entry that no instance could handle is set aside; default 5.
        /// Deliveries that failed because a store was down do not count.
        package var deliveries = 5
        /// How long a consumer must be silent before it is removed; default 1 h.
        package var consumerGoneAfter: Duration = .seconds(3600)

        package init() {}
    }

    private let service: ServiceName
    /// The partitions whose streams it reads, each by a task of its own.
    private let partitions: [BusPartition]
    /// The streams of a partition.
    private let streams: @Sendable (BusPartition) -> [String]
    /// Whether commands are handled one at a time, in order. True for a sip-bridge's own stream, which has no other
    /// consumer.
    private let isOrdered: Bool
    private let instance: String
    private let connection: RedisClient
    private let router: CommandRouter
    private let metrics: CommandMetrics
    /// Set before ``run()``; the defaults suit services.
    package var limits = Limits()
    private let logger: Logger

    /// Creates a consumer of a service's streams.
    /// - Parameters:
    ///   - instance: the process's name, unique among the service's instances.
    ///   - connection: for replies and claims; a ``BlockingReader`` of its own reads.
    package init(
        service: ServiceName, instance: String, connection: RedisClient, router: CommandRouter, logger: Logger
    ) {
        self.service = service
        partitions = connection.bus.partitions
        streams = { [KeySpace.commands(service, in: $0), KeySpace.posts(service, in: $0)] }
        isOrdered = false
        self.instance = instance
        self.connection = connection
        self.router = router
        metrics = CommandMetrics(service: service, streams: ["commands", "posts"], operations: router.routes.keys)
        self.logger = logger
    }

    /// Creates a consumer of one sip-bridge's own stream. Its commands are handled one at a time,
    /// in order, and take effect once.
    /// - Parameters: as for ``init(service:instance:connection:router:logger:)``.
    package init(bridge: BridgeID, connection: RedisClient, router: CommandRouter, logger: Logger) {
        service = .sipBridge
        partitions = [.bridge(bridge)]
        streams = { _ in [KeySpace.commands(bridge)] }
        isOrdered = true
        instance = bridge.rawValue
        self.connection = connection
        self.router = router
        metrics = CommandMetrics(service: service, streams: ["orders"], operations: router.routes.keys)
        self.logger = logger
    }

    /// Creates a consumer of one media node's own stream.
    /// - Parameters: as for ``init(service:instance:connection:router:logger:)``.
    package init(node: MediaNodeID, connection: RedisClient, router: CommandRouter, logger: Logger) {
        service = .media
        partitions = [connection.bus.partition(of: .mediaNode(node))]
        streams = { [KeySpace.commands(node, in: $0)] }
        isOrdered = false
        instance = node.rawValue
        self.connection = connection
        self.router = router
        metrics = CommandMetrics(service: service, streams: ["node"], operations: router.routes.keys)
        self.logger = logger
    }

    /// Creates the streams for senders that never create them. ``run()`` does so too, but
    /// only some time after it starts.
    /// - Throws: `RedisError`.
    package func createStream() async throws(RedisError) {
        for partition in partitions {
            let reader = BlockingReader(connection, slot: partition.slot, logger: logger)
            for group in groups(of: partition, reader) { try await group.create() }
        }
    }

    private func groups(of partition: BusPartition, _ reader: BlockingReader) -> [ConsumerGroup] {
        streams(partition).map {
            ConsumerGroup(
                stream: $0, partition: partition, consumer: instance, reader: reader, connection: connection)
        }
    }

    /// Runs until graceful shutdown or cancellation. After an error of Redis it tries again.
    package func run() async throws {
        let readers = partitions.map { BlockingReader(connection, slot: $0.slot, logger: logger) }
        let parts = zip(partitions, readers).map { handlers(of: $0, $1) }
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            await withTaskGroup { tasks in
                tasks.addTask { await keepAlive(parts) }
                tasks.addTask { await survey(parts) }
                await withTaskGroup { reading in
                    for streams in parts {
                        reading.addTask {
                            if isOrdered { await readInOrder(streams[0]) } else { await read(streams) }
                        }
                    }
                }
                tasks.cancelAll()
            }
            // All at once: each is a round trip.
            await withDiscardingTaskGroup { draining in
                for stream in parts.joined() { draining.addTask { await stream.acknowledger?.drain() } }
            }
        }
        for reader in readers { await reader.close() }
    }

    /// The handlers of a partition's streams, in the order of ``streams``.
    private func handlers(
        of partition: BusPartition, _ reader: BlockingReader
    ) -> [EntryHandler] {
        let inFlight = EntriesInWork(bound: max(limits.inFlight / partitions.count, Self.leastInFlight))
        return groups(of: partition, reader).enumerated().map { place, group in
            EntryHandler(
                service: service, group: group, place: place, isPosts: place == 1, router: router, inFlight: inFlight,
                metrics: metrics, logger: logger, deliveryBound: limits.deliveries,
                recent: isOrdered ? RecentCommands() : nil,
                acknowledger: isOrdered ? nil : EntryAcknowledger(group: group, logger: logger))
        }
    }

    /// However many partitions there are, each may have so many commands in work.
    private static let leastInFlight = 64

    /// Reads new entries of a partition, and claims abandoned ones about once a second, until shutdown. Returns when
    /// all entries it read are handled.
    private func read(_ streams: [EntryHandler]) async {
        await withDiscardingTaskGroup { tasks in
            var lastClaim = ContinuousClock.now
            var cursors = streams.map { _ in "0-0" }
            var failures = 0
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                let count = min(limits.batch, await streams[0].inFlight.room())
                do {
                    var entries: [StreamDelivery] = []
                    if lastClaim.duration(to: .now) >= Self.claimInterval, mayClaim(in: streams[0].group.partition) {
                        lastClaim = .now
                        entries = try await claim(streams, count, &cursors)
                    }
                    if entries.isEmpty { entries = try await readNew(streams, count) }
                    for (place, entry, deliveries) in entries {
                        let stream = streams[place]
                        guard stream.inFlight.add(stream.name(of: entry)) else { continue }
                        tasks.addTask { await stream.handle(entry, deliveries: deliveries) }
                    }
                    failures = 0
                } catch {
                    logger.debug("could not read commands", metadata: ["error": "\(error)"])
                    await pause(failures)
                    failures += 1
                }
            }
        }
    }

    /// An entry, the index of its stream, and how often it has been delivered, including this time.
    private typealias StreamDelivery = (place: Int, entry: StreamEntry, deliveries: Int64)

    /// The pause between two searches for abandoned entries: less than the second that a read blocks.
    private static let claimInterval = Duration.milliseconds(900)

    /// Whether other consumers have had the time to renew their entries since the partition's master was away.
    private func mayClaim(in partition: BusPartition) -> Bool {
        guard let term = connection.term(ofSlot: partition.slot) else { return false }
        return .now() - term.begin >= TimeAmount(limits.abandonedAfter)
    }

    private func readNew(_ streams: [EntryHandler], _ count: Int) async throws(RedisError) -> [StreamDelivery] {
        try await ConsumerGroup.read(streams.map(\.group), count: count).map { ($0.group, $0.entry, 1) }
    }

    /// Takes over entries of consumers that have stopped renewing them.
    /// - Parameter cursors: where the previous scan of each stream ended; updated.
    private func claim(
        _ streams: [EntryHandler], _ count: Int, _ cursors: inout [String]
    ) async throws(RedisError) -> [StreamDelivery] {
        var claimed: [StreamDelivery] = []
        for (place, stream) in streams.enumerated() {
            let entries = try await stream.group.claim(
                minIdle: limits.abandonedAfter, count: count, cursor: &cursors[place])
            guard !entries.isEmpty else { continue }
            stream.metrics.claimed.increment(by: entries.count)
            let deliveries = await stream.group.deliveries(of: entries.map(\.id))
            claimed += zip(entries, deliveries).map { (place, $0, $1) }
        }
        return claimed
    }

    /// Reads and handles one command after the other, until shutdown. After any failure it first reads the entries
    /// delivered to this consumer and not finished.
    private func readInOrder(_ stream: EntryHandler) async {
        var hasUnfinished = true
        var failures = 0
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                let entries =
                    hasUnfinished
                    ? try await stream.group.readUnfinished(count: limits.batch)
                    : try await stream.group.read(count: limits.batch)
                var finishedAll = true
                for entry in entries where finishedAll && stream.inFlight.add(stream.name(of: entry)) {
                    finishedAll = await stream.handle(entry)
                }
                if finishedAll {
                    failures = 0
                    // An empty page means that no unfinished entries are left.
                    if entries.isEmpty { hasUnfinished = false }
                    continue
                }
            } catch {
                logger.debug("could not read commands", metadata: ["error": "\(error)"])
            }
            hasUnfinished = true
            await pause(failures)
            failures += 1
        }
    }

    /// Every second it renews the entries that take long. No partition's renewal waits for
    /// another's: its server may be away.
    private func keepAlive(_ parts: [[EntryHandler]]) async {
        while !Task.isCancelled {
            let end = NIODeadline.now() + Self.renewalTime
            for stream in parts.joined() {
                let old = stream.inFlight.older(than: .seconds(1), in: stream.place)
                guard !old.isEmpty else { continue }
                let renewal = stream.group.keep(old)
                // Fails when the group is missing (before the first read) or Redis is down; the next round tries again.
                connection.onLoop { [connection] in connection.send(renewal, repeatedUntil: end) { _ in } }
            }
            await connection.eventLoop.wait(until: .nextTick)
        }
    }

    /// How long a renewal may be sent again: until the next.
    private static let renewalTime = TimeAmount.seconds(1)

    /// Every ten seconds it records the streams' backlogs; every minute it removes consumers that are gone. It asks no
    /// server that is away: it would wait for it, and the end of this process for that.
    private func survey(_ parts: [[EntryHandler]]) async {
        var rounds = 0
        while !Task.isCancelled {
            if rounds % 10 == 0 { await recordBacklogs(parts) }
            if rounds % 60 == 0 {
                for stream in parts.joined() where !Task.isCancelled {
                    guard await isWhole() else { break }
                    _ = try? await stream.group.removeConsumers(idle: limits.consumerGoneAfter)
                }
            }
            rounds += 1
            await connection.eventLoop.wait(until: .nextTick)
        }
    }

    private func isWhole() async -> Bool { await connection.read { [connection] in connection.isWhole } }

    private func reachable(_ groups: [ConsumerGroup]) async -> [ConsumerGroup] {
        await connection.read { [connection] in
            groups.filter { connection.isReachable(slot: $0.partition.slot) }
        }
    }

    /// Records how many entries each stream has, and how old the oldest is, of all partitions together whose servers
    /// are not away.
    private func recordBacklogs(_ parts: [[EntryHandler]]) async {
        for place in parts[0].indices {
            let groups = await reachable(parts.map { $0[place].group })
            guard !groups.isEmpty else { continue }
            let lengths = await connection.execute(groups.map { RedisCommand("XLEN", key: $0.stream) })
                .compactMap { (try? $0.get())?.int }
            guard lengths.count == groups.count else { continue }
            let filled = zip(groups, lengths).filter { $0.1 > 0 }.map(\.0)
            var oldest: Int64 = 0
            for group in filled { oldest = max(oldest, await age(ofFirstIn: group)) }
            metrics.streams[place].backlog.set(Int(lengths.reduce(0, +)))
            metrics.streams[place].oldest.set(Double(oldest) / 1000)
        }
    }

    /// The age of a stream's first entry in milliseconds; 0 when there is none.
    private func age(ofFirstIn group: ConsumerGroup) async -> Int64 {
        let command = RedisCommand("XRANGE", key: group.stream, "-", "+", "COUNT", 1)
        guard let first = try? await connection.execute(command).array?.first,
            let time = StreamEntry(first)?.time, let now = connection.clock(ofSlot: group.partition.slot)?.now
        else { return 0 }
        return max(0, now.milliseconds - time.milliseconds)
    }

    private func pause(_ failures: Int) async {
        // A partition's server may be away for seconds, and its successor be known at any
        // moment: users wait for this read.
        let backOff = BackOff(base: .milliseconds(100), ceiling: .milliseconds(400))
        let wait = backOff.delay(attempt: failures, fromZeroBy: .random(in: 0...1))
        await connection.eventLoop.pause(for: wait)
    }
}
