internal import ClusterState
internal import NIOCore
internal import RedisClient

/// One consumer of the consumer group of a stream. A missing group is created, also after Redis has come back empty.
struct ConsumerGroup: Sendable {
    /// The group's name on every stream; each stream has only this one group.
    static let name = "service"

    let stream: String
    /// Where the stream is.
    let partition: BusPartition
    /// The consumer's name, unique per process: instances never share pending entries.
    let consumer: String
    /// Reads what blocks; nothing else may use it.
    let reader: BlockingReader
    let connection: RedisClient

    /// Reads new entries of several streams. Blocks for the first until the next tick, at most a second.
    /// - Parameters:
    ///   - groups: groups of different streams that share a reader.
    ///   - count: the largest number of entries of each stream.
    /// - Returns: the entries in the order of `groups`, each with the index of its group.
    static func read(
        _ groups: [ConsumerGroup], count: Int
    ) async throws(RedisError) -> [(group: Int, entry: StreamEntry)] {
        var command = RedisCommand(
            "XREADGROUP", "GROUP", .string(Self.name), .string(groups[0].consumer), "COUNT", .int(count), "BLOCK",
            .int64(NIODeadline.nextTick.millisecondsLeft), "STREAMS")
        for group in groups { command.append(group.stream) }
        for _ in groups { command.append(">") }
        do throws(RedisError) {
            let reply = try await groups[0].reader.execute(command)
            if reply.isNull { return [] }
            // The reply is [[stream, [entry, ...]], ...] with only the streams that have entries.
            guard let streams = reply.array else { throw RedisError.shape("the reply to XREADGROUP") }
            var found: [(group: Int, entry: StreamEntry)] = []
            for stream in streams {
                guard let parts = stream.array, parts.count == 2, let entries = parts[1].array,
                    let place = groups.firstIndex(where: { $0.stream == parts[0].string })
                else { throw RedisError.shape("the reply to XREADGROUP") }
                for case let entry? in entries.map(StreamEntry.init) { found.append((place, entry)) }
            }
            return found
        } catch {
            guard error.code == .noGroup || error.code == .unblocked else { throw error }
            for group in groups { try await group.create() }
            return []
        }
    }

    /// Reads new entries. Blocks for the first until the next tick, at most a second.
    func read(count: Int) async throws(RedisError) -> [StreamEntry] {
        try await Self.read([self], count: count).map(\.entry)
    }

    /// Reads the entries that were delivered to this consumer and are not finished, in the order of the stream.
    func readUnfinished(count: Int) async throws(RedisError) -> [StreamEntry] {
        let command = RedisCommand(
            "XREADGROUP", "GROUP", .string(Self.name), .string(consumer), "COUNT", .int(count), "STREAMS",
            .string(stream), "0")
        do throws(RedisError) {
            let reply = try await reader.execute(command)
            guard let entries = reply.array?.first?.array?.last?.array else {
                throw RedisError.shape("the reply to XREADGROUP")
            }
            return entries.compactMap(StreamEntry.init)
        } catch {
            guard error.code == .noGroup else { throw error }
            try await create()
            return []
        }
    }

    /// Creates the stream and the group. The group starts at the first entry, so that commands sent before the first
    /// consumer started are not lost.
    func create() async throws(RedisError) {
        do throws(RedisError) {
            _ = try await connection.execute(
                RedisCommand("XGROUP", "CREATE", .string(stream), .string(Self.name), "0", "MKSTREAM")
                    .inSlot(partition.slot))
        } catch {
            guard error.code == .busyGroup else { throw error }
        }
    }

    /// Takes over at most `count` entries that other consumers have held for `minIdle` without renewing them.
    /// - Parameter cursor: where the previous scan ended, `0-0` at first; updated.
    func claim(minIdle: Duration, count: Int, cursor: inout String) async throws(RedisError) -> [StreamEntry] {
        let command = RedisCommand(
            "XAUTOCLAIM", key: stream, .string(Self.name), .string(consumer), .milliseconds(minIdle),
            .string(cursor), "COUNT", .int(count))
        do throws(RedisError) {
            // The reply is [next cursor, [entry, ...], [ids of deleted entries]].
            guard let parts = try await connection.execute(command).array, parts.count >= 2,
                let entries = parts[1].array
            else { throw RedisError.shape("the reply to XAUTOCLAIM") }
            cursor = parts[0].string ?? "0-0"
            return entries.compactMap(StreamEntry.init)
        } catch {
            guard error.code == .noGroup else { throw error }
            try await create()
            return []
        }
    }

    /// The delivery counts of entries that this consumer holds, in the order of `ids`; 0 for an entry that is gone.
    func deliveries(of ids: [String]) async -> [Int64] {
        let questions = ids.map { id in
            RedisCommand("XPENDING", key: stream, .string(Self.name), .string(id), .string(id), 1)
        }
        // Each reply is [[id, consumer, idle, deliveries]].
        return await connection.execute(questions).map { (try? $0.get())?.array?.first?.array?.last?.int ?? 0 }
    }

    /// Resets an entry's delivery count, because its failure was caused by something else.
    func resetDeliveries(_ id: String) -> RedisCommand {
        RedisCommand(
            "XCLAIM", key: stream, .string(Self.name), .string(consumer), 0, .string(id), "RETRYCOUNT", 0, "JUSTID")
    }

    /// Moves an entry from its stream to another one of its partition, which keeps the latest ``setAsideBound``. In one
    /// transaction, except in a cluster: there, commands of other slots could come in between.
    func setAside(_ entry: StreamEntry, on other: String) -> [RedisCommand] {
        var adding = RedisCommand(
            "XADD", key: other, "MAXLEN", .int(Self.setAsideBound), "*", "stream", .string(stream), "entry",
            .string(entry.id))
        for field in entry.fields {
            adding.append(field.name)
            adding.append(.bytes(field.value))
        }
        let moving = [adding] + finish([entry.id])
        return connection.bus.flavour == .single ? [RedisCommand("MULTI")] + moving + [RedisCommand("EXEC")] : moving
    }

    /// The largest number of entries kept after being set aside; the oldest beyond it are dropped.
    static let setAsideBound = 1000

    /// Resets the idle time of entries that take long to handle, so that no other consumer claims them.
    func keep(_ ids: [String]) -> RedisCommand {
        var command = RedisCommand("XCLAIM", key: stream, .string(Self.name), .string(consumer), 0)
        for id in ids { command.append(.string(id)) }
        command.append("JUSTID")
        return command
    }

    /// Acknowledges and deletes entries, so that the stream's length is its backlog.
    func finish(_ ids: [String]) -> [RedisCommand] {
        let arguments = ids.map { RedisArgument.string($0) }
        return [
            RedisCommand("XACK", key: stream, arguments: [.string(Self.name)] + arguments),
            RedisCommand("XDEL", key: stream, arguments: arguments),
        ]
    }

    /// Removes consumers of processes that have ended: silent for longer than `idle` and with no pending entries.
    func removeConsumers(idle: Duration) async throws(RedisError) -> Int {
        let reply = try await connection.execute(
            RedisCommand("XINFO", "CONSUMERS", .string(stream), .string(Self.name)).inSlot(partition.slot))
        var removals: [RedisCommand] = []
        for row in reply.array ?? [] {
            let flat = row.array ?? []
            var values: [String: RedisValue] = [:]
            for index in stride(from: 0, to: flat.count - 1, by: 2) {
                values[flat[index].string ?? ""] = flat[index + 1]
            }
            guard let name = values["name"]?.string, name != consumer, values["pending"]?.int == 0,
                let silent = values["idle"]?.int, Duration.milliseconds(silent) > idle
            else { continue }
            removals.append(
                RedisCommand("XGROUP", "DELCONSUMER", .string(stream), .string(Self.name), .string(name))
                    .inSlot(partition.slot))
        }
        return await connection.execute(removals).count { (try? $0.get()) != nil }
    }
}
