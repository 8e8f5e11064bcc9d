internal import NIOCore

/// One consumer's place in the consumer group of a stream. Every group is created when it is missing, also when Redis came
/// back empty.
struct ConsumerGroup: Sendable {
    /// The group's name on every stream: one group per stream, so the name says nothing.
    static let name = "service"

    let stream: String
    /// Unique per process, so that two instances never share pending entries.
    let consumer: String
    /// Blocks in reads, so nothing else may use it.
    let reader: RedisConnection
    let connection: RedisConnection

    /// Reads new entries of several groups of one consumer, waiting until the next tick, a second at most, for the first.
    /// - Parameters:
    ///   - groups: of different streams, with one reader.
    ///   - count: entries of each stream at most.
    /// - Returns: the entries in the order of `groups`, each with its group's place.
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
            // [[stream, [entry, ...]], ...], only of streams that have any.
            guard let streams = reply.array else { throw RedisError.shape("the answer of XREADGROUP") }
            var found: [(group: Int, entry: StreamEntry)] = []
            for stream in streams {
                guard let parts = stream.array, parts.count == 2, let entries = parts[1].array,
                    let place = groups.firstIndex(where: { $0.stream == parts[0].string })
                else { throw RedisError.shape("the answer of XREADGROUP") }
                for case let entry? in entries.map(StreamEntry.init) { found.append((place, entry)) }
            }
            return found
        } catch {
            guard error.code == .noGroup || error.code == .unblocked else { throw error }
            for group in groups { try await group.create() }
            return []
        }
    }

    /// Reads new entries, waiting until the next tick, a second at most, for the first.
    func read(count: Int) async throws(RedisError) -> [StreamEntry] {
        try await Self.read([self], count: count).map(\.entry)
    }

    /// Reads what this consumer was given before and has not finished, in the order of the stream.
    func readUnfinished(count: Int) async throws(RedisError) -> [StreamEntry] {
        let command = RedisCommand(
            "XREADGROUP", "GROUP", .string(Self.name), .string(consumer), "COUNT", .int(count), "STREAMS",
            .string(stream), "0")
        do throws(RedisError) {
            let reply = try await reader.execute(command)
            guard let entries = reply.array?.first?.array?.last?.array else {
                throw RedisError.shape("the answer of XREADGROUP")
            }
            return entries.compactMap(StreamEntry.init)
        } catch {
            guard error.code == .noGroup else { throw error }
            try await create()
            return []
        }
    }

    /// Makes the stream and the group, from the first entry on: what was posted before the first consumer is not lost.
    func create() async throws(RedisError) {
        do throws(RedisError) {
            _ = try await connection.execute(
                RedisCommand("XGROUP", "CREATE", .string(stream), .string(Self.name), "0", "MKSTREAM"))
        } catch {
            guard error.code == .busyGroup else { throw error }
        }
    }

    /// Takes over entries that a consumer holds for `minIdle` ms without a sign of life, `count` at most.
    /// - Parameter cursor: where the last look ended, `0-0` at first; moved.
    func claim(minIdle: Int64, count: Int, cursor: inout String) async throws(RedisError) -> [StreamEntry] {
        let command = RedisCommand(
            "XAUTOCLAIM", .string(stream), .string(Self.name), .string(consumer), .int64(minIdle), .string(cursor),
            "COUNT",
            .int(count))
        do throws(RedisError) {
            // [next cursor, [entry, ...], [ids deleted meanwhile]]
            guard let parts = try await connection.execute(command).array, parts.count >= 2,
                let entries = parts[1].array
            else { throw RedisError.shape("XAUTOCLAIM's answer") }
            cursor = parts[0].string ?? "0-0"
            return entries.compactMap(StreamEntry.init)
        } catch {
            guard error.code == .noGroup else { throw error }
            try await create()
            return []
        }
    }

    /// How often entries that this consumer holds have been delivered, in the same order; 0 for one that is gone.
    func deliveries(of ids: [String]) async -> [Int64] {
        let questions = ids.map { id in
            RedisCommand("XPENDING", .string(stream), .string(Self.name), .string(id), .string(id), 1)
        }
        // Each answer is [[id, consumer, idle, deliveries]].
        return await connection.execute(questions).map { (try? $0.get())?.array?.first?.array?.last?.int ?? 0 }
    }

    /// Counts an entry's deliveries anew: what went wrong was not its fault.
    func forgive(_ id: String) -> RedisCommand {
        RedisCommand(
            "XCLAIM", .string(stream), .string(Self.name), .string(consumer), 0, .string(id), "RETRYCOUNT", 0, "JUSTID")
    }

    /// Takes an entry off the stream and onto another one, which keeps the latest ``setAsideBound``: all of it or nothing.
    func setAside(_ entry: StreamEntry, on other: String) -> [RedisCommand] {
        var adding = RedisCommand(
            "XADD", .string(other), "MAXLEN", .int(Self.setAsideBound), "*", "stream", .string(stream), "entry",
            .string(entry.id))
        for field in entry.fields {
            adding.append(field.name)
            adding.append(.bytes(field.value))
        }
        return [RedisCommand("MULTI"), adding] + finish([entry.id]) + [RedisCommand("EXEC")]
    }

    /// Entries that are kept of those set aside; the oldest beyond it are dropped.
    static let setAsideBound = 1000

    /// The sign of life of entries that take long: their idle time begins anew, so nobody claims them.
    func keep(_ ids: [String]) -> RedisCommand {
        var command = RedisCommand("XCLAIM", .string(stream), .string(Self.name), .string(consumer), 0)
        for id in ids { command.append(.string(id)) }
        command.append("JUSTID")
        return command
    }

    /// The entries are done with: acknowledged and deleted, so that the stream's length is its backlog.
    func finish(_ ids: [String]) -> [RedisCommand] {
        let arguments = ids.map { RedisArgument.string($0) }
        return [
            RedisCommand("XACK", arguments: [.string(stream), .string(Self.name)] + arguments),
            RedisCommand("XDEL", arguments: [.string(stream)] + arguments),
        ]
    }

    /// Removes consumers that are gone: silent for longer than `idle` ms, with nothing pending.
    func removeConsumers(idle: Int64) async throws(RedisError) -> Int {
        let reply = try await connection.execute(
            RedisCommand("XINFO", "CONSUMERS", .string(stream), .string(Self.name)))
        var removals: [RedisCommand] = []
        for row in reply.array ?? [] {
            let flat = row.array ?? []
            var values: [String: RedisValue] = [:]
            for index in stride(from: 0, to: flat.count - 1, by: 2) {
                values[flat[index].string ?? ""] = flat[index + 1]
            }
            guard let name = values["name"]?.string, name != consumer, values["pending"]?.int == 0,
                let silent = values["idle"]?.int, silent > idle
            else { continue }
            removals.append(RedisCommand("XGROUP", "DELCONSUMER", .string(stream), .string(Self.name), .string(name)))
        }
        return await connection.execute(removals).count { (try? $0.get()) != nil }
    }
}
