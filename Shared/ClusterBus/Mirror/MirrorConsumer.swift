package import BusProtocol
package import ClusterState
package import Logging
internal import NIOCore
internal import Pacing
package import RedisClient
import ServiceLifecycle
internal import ServiceMetrics
package import SignalingProtocol

/// The streams that are copied into PostgreSQL.
package enum MirrorStream {
    /// The one field of an entry: a packed change.
    private static let field = "r"

    /// The command that appends a change to the stream. It succeeds even when Redis is at `maxmemory`, because the
    /// change itself has already been made. The connection must keep ``RedisFunctionLibrary/streams`` loaded.
    /// - Parameter partition: the one that is responsible for what has changed.
    package static func recording(
        _ change: some FieldCodable, for service: ServiceName, in partition: BusPartition
    ) -> RedisCommand {
        let mirror = Mirror.changes(service)
        var command = RedisCommand.vitalAppend(to: KeySpace.mirror(mirror, in: partition)).inSlot(partition.slot)
        let words: [RedisArgument] = [
            "MAXLEN", "~", .int(mirror.entries(in: partition)), "*", .string(field), .bytes(encoded(change)),
        ]
        for word in words { command.append(word) }
        return command
    }

    /// The command that appends messages to ``Mirror/messages``, all or none. It too succeeds at `maxmemory`. Its reply
    /// is the number of the oldest entries that had to go because the mirror had reached its bound. The connection must
    /// keep ``RedisFunctionLibrary/streams`` loaded.
    package static func recording(_ messages: [MessageMirrorRow], in partition: BusPartition) -> RedisCommand {
        let rows = messages.map { encoded($0) }
        let stream = KeySpace.mirror(.messages, in: partition)
        var command = RedisCommand.function(
            "mirror_append", keys: 1, bytes: rows.reduce(stream.utf8.count + 64) { $0 + $1.count + 16 })
        command.append(stream)
        command.append(.int(Mirror.messages.entries(in: partition)))
        command.append(field)
        for row in rows { command.append(.bytes(row)) }
        return command.inSlot(partition.slot)
    }

    private static func encoded(_ change: some FieldCodable) -> [UInt8] {
        var fields = FieldWriter()
        change.write(to: &fields)
        return fields.encoded
    }

    /// Reads an entry's change; without fields when the entry holds none.
    static func change(_ entry: StreamEntry) -> FieldReader {
        guard entry.fields.count == 1, entry.fields[0].name == field,
            let reader = try? FieldReader(encoded: entry.fields[0].value)
        else { return FieldReader(pairs: []) }
        return reader
    }
}

/// Copies a mirror into PostgreSQL: in batches, at least once, normally less than a second late.
package struct MirrorConsumer: Service {
    private let mirror: Mirror
    private let instance: String
    private let connection: RedisClient
    private let logger: Logger
    private let handler: @Sendable ([FieldReader]) async throws -> Void
    private let copied: Counter
    private let failures: Counter
    private let delay: Histogram

    /// Creates a consumer.
    /// - Parameters:
    ///   - instance: the process's name, unique among those that copy the mirror.
    ///   - connection: for acknowledgements and claims; a ``BlockingReader`` of its own reads.
    ///   - handler: copies at most 500 changes. When it throws, the same changes are passed to it again after a pause,
    ///     so it must itself skip a change that can never be copied.
    package init(
        _ mirror: Mirror, instance: String, connection: RedisClient, logger: Logger,
        handler: @escaping @Sendable ([FieldReader]) async throws -> Void
    ) {
        self.mirror = mirror
        self.instance = instance
        self.connection = connection
        self.logger = logger
        self.handler = handler
        let labels: KeyValuePairs = ["service": mirror.name]
        copied = Counter(
            "heliograph_mirror_changes_total", "Changes of a service that were copied into PostgreSQL.", labels: labels)
        failures = Counter(
            "heliograph_mirror_failures_total", "Batches of changes that could not be copied, and are copied again.",
            labels: labels)
        delay = Histogram(
            "heliograph_mirror_delay_seconds", "Age of the oldest change of a batch when it was copied.",
            labels: labels)
    }

    /// The largest batch.
    private static let batchSize = 500
    /// The pause after a batch that was not full, so that the next statement copies several changes: a statement for
    /// many costs little more than one for a single change.
    private static let batchPause = Duration.milliseconds(500)

    /// Runs until graceful shutdown or cancellation. After an error of Redis or of the handler it tries again.
    package func run() async throws {
        await withTaskExecutorPreference(EventLoopTasks(connection.eventLoop)) {
            await withTaskGroup { tasks in
                for partition in connection.bus.partitions { tasks.addTask { await copy(partition) } }
            }
        }
    }

    private func copy(_ partition: BusPartition) async {
        let reader = BlockingReader(connection, slot: partition.slot, logger: logger)
        let group = ConsumerGroup(
            stream: KeySpace.mirror(mirror, in: partition), partition: partition, consumer: instance, reader: reader,
            connection: connection)
        var lastClaim: ContinuousClock.Instant?
        var cursor = "0-0"
        var failures = 0
        var batch: [StreamEntry] = []
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                if batch.isEmpty, lastClaim.map({ $0.duration(to: .now) >= .seconds(5) }) ?? true {
                    lastClaim = .now
                    batch = try await group.claim(minIdle: .seconds(10), count: Self.batchSize, cursor: &cursor)
                    _ = try await group.removeConsumers(idle: .seconds(3600))
                }
                if batch.isEmpty { batch = try await group.read(count: Self.batchSize) }
                guard !batch.isEmpty else { continue }
                try await handler(batch.map(MirrorStream.change))
                recordCopy(of: batch, in: partition)
                let ids = batch.map(\.id)
                batch = []
                failures = 0
                for result in await connection.execute(group.finish(ids)) { _ = try result.get() }
                if ids.count < Self.batchSize { await connection.eventLoop.pause(for: Self.batchPause) }
            } catch {
                self.failures.increment()
                logger.warning(
                    "could not copy changes", metadata: ["error": "\(error)", "changes": "\(batch.count)"])
                let wait = BackOff(base: .milliseconds(200)).delay(attempt: failures, fromZeroBy: .random(in: 0...1))
                failures += 1
                await connection.eventLoop.pause(for: wait)
            }
        }
        await reader.close()
    }

    private func recordCopy(of batch: [StreamEntry], in partition: BusPartition) {
        copied.increment(by: batch.count)
        guard let oldest = batch.first?.time, let now = connection.clock(ofSlot: partition.slot)?.now else { return }
        delay.record(nanoseconds: max(0, now.milliseconds - oldest.milliseconds) * 1_000_000)
    }
}
