internal import ClusterState
package import RedisClient
package import SignalingProtocol

/// A running process, as its heartbeats show it.
package struct RunningInstance: Equatable, Sendable {
    /// The process's name and a random part, new for each run.
    package let id: String
    /// The process's description of itself.
    package let record: InstanceRecord
}

/// The cluster's running processes. Each renews its own record by heartbeats, see ``ClusterInstance``.
package enum RunningInstances {
    /// The slot of the processes' records, of their levels and of the layout.
    static let slot = KeySlot.of(KeySpace.control)
    /// How long a process counts as running after its last heartbeat.
    package static let timeToLive = Duration.seconds(20)

    /// Asks Redis for all of them, sorted by kind and id. Meant for people: it reads every record.
    /// - Throws: `SignalingError` when Redis does not answer or a record cannot be read.
    package static func list(_ connection: RedisClient) async throws(SignalingError) -> [RunningInstance] {
        let ids = try await runningIDs(connection)
        let hashes = try await connection.answers(
            to: ids.map { RedisCommand("HGETALL", key: KeySpace.instance($0)) })
        var instances: [RunningInstance] = []
        for (id, hash) in zip(ids, hashes) {
            // A process without a record has ended since the ids were read.
            guard let record = try InstanceRecord(hash: hash) else { continue }
            instances.append(RunningInstance(id: id, record: record))
        }
        return instances.sorted { ($0.record.kind, $0.id) < ($1.record.kind, $1.id) }
    }

    /// What to say when the keys in Redis are laid out otherwise than this program's
    /// settings say; nil when they are not.
    /// - Throws: `SignalingError` when Redis does not answer.
    package static func layoutProblem(_ connection: RedisClient) async throws(SignalingError) -> String? {
        let found = try await connection.answer(to: RedisCommand("HGETALL", key: KeySpace.layout))
        guard !found.texts.isEmpty else { return nil }
        let needed = connection.bus.redis
        guard let layout = try? RedisLayout(hash: found), layout != needed else { return nil }
        return
            "Redis holds data of the layout \(layout), and HELIOGRAPH_REDIS_URL says \(needed): correct `partitions` "
            + "in the URL, or use an empty Redis"
    }

    /// The levels of the running processes.
    /// - Throws: `SignalingError` when Redis does not answer.
    static func levels(_ connection: RedisClient) async throws(SignalingError) -> [Int64] {
        let ids = Set(try await runningIDs(connection))
        let reply = try await connection.answer(
            to: RedisCommand("ZRANGE", key: KeySpace.instanceLevels, 0, -1, "WITHSCORES"))
        let words = reply.texts
        return stride(from: 0, to: words.count - 1, by: 2).compactMap {
            ids.contains(words[$0]) ? Int64(words[$0 + 1]) : nil
        }
    }

    /// Whether a process is running.
    /// - Throws: `SignalingError` when Redis does not answer.
    package static func isRunning(_ id: String, on connection: RedisClient) async throws(SignalingError) -> Bool {
        try await connection.answer(to: RedisCommand("EXISTS", key: KeySpace.instance(id))).int == 1
    }

    /// Asks a process to end as at SIGTERM. It finds out within seconds, when it renews its record.
    ///
    /// The connection must keep ``RedisFunctionLibrary/instances`` loaded.
    /// - Returns: false when there is no such process.
    /// - Throws: `SignalingError` when Redis does not answer.
    package static func drain(_ id: String, on connection: RedisClient) async throws(SignalingError) -> Bool {
        try await connection.answer(to: call("instance_drain", of: id, [])).int == 1
    }

    /// A call of a function about a process.
    static func call(_ function: String, of id: String, _ arguments: [RedisArgument]) -> RedisCommand {
        .function(
            function,
            keys: [KeySpace.instances, KeySpace.instanceLevels, KeySpace.instance(id), KeySpace.layout],
            arguments: arguments)
    }

    private static func runningIDs(_ connection: RedisClient) async throws(SignalingError) -> [String] {
        let last = try await connection.time(ofSlot: slot) + (.zero - timeToLive)
        return try await connection.answer(
            to: RedisCommand("ZRANGE", key: KeySpace.instances, .string("(\(last)"), "+inf", "BYSCORE")
        ).texts
    }
}
