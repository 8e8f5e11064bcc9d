internal import BusProtocol
internal import ClusterState
package import RedisClient
package import SignalingProtocol

/// The list by which media nodes show gateways that they live; library `heliograph_gateways`. A node lists itself every
/// ``interval``; who has not for ``timeToLive`` is left out. The connection must keep
/// ``RedisFunctionLibrary/leases`` loaded.
package struct MediaNodeList: Sendable {
    /// The time between two heartbeats.
    package static let interval = Duration.seconds(1)
    /// How long a node is listed after a heartbeat.
    package static let timeToLive = Duration.seconds(3)
    /// How long the stream of a node's commands outlives its last heartbeat: a node that is cut off from Redis for a
    /// while finds its commands again, and one that was killed leaves nothing behind.
    package static let streamKept = Duration.seconds(60)
    /// The largest number of nodes that ``living()`` returns.
    package static let most = 1000

    private let connection: RedisClient

    /// Uses the list over a connection; callable from any thread.
    package init(connection: RedisClient) { self.connection = connection }

    /// Lists a node, and keeps the stream of its commands.
    /// - Throws: `RedisError`.
    package func announce(_ node: MediaNodeID, _ record: MediaNodeRecord) async throws(RedisError) {
        var fields = FieldWriter()
        record.write(to: &fields)
        let partition = connection.bus.partition(of: .mediaNode(node))
        let results = await connection.execute([
            .function(
                "lease_announce", keys: [KeySpace.mediaNodes, KeySpace.mediaNodeRecords],
                arguments: [.string(node.rawValue), .bytes(fields.encoded)]),
            RedisCommand(
                "PEXPIRE", key: KeySpace.commands(node, in: partition), .milliseconds(Self.streamKept)),
        ])
        for result in results { _ = try result.get() }
    }

    /// Removes a node and the stream of its commands: it has stopped.
    /// - Throws: `RedisError`.
    package func withdraw(_ node: MediaNodeID) async throws(RedisError) {
        let partition = connection.bus.partition(of: .mediaNode(node))
        let results = await connection.execute([
            RedisCommand("ZREM", key: KeySpace.mediaNodes, .string(node.rawValue)),
            RedisCommand("HDEL", key: KeySpace.mediaNodeRecords, .string(node.rawValue)),
            RedisCommand("DEL", key: KeySpace.commands(node, in: partition)),
        ])
        for result in results { _ = try result.get() }
    }

    /// The nodes that are alive, up to ``most``, in no order. A node whose record cannot be parsed is left out.
    /// - Throws: `RedisError`.
    package func living() async throws(RedisError) -> [LiveMediaNode] {
        let command = RedisCommand.function(
            "lease_sample", keys: [KeySpace.mediaNodes, KeySpace.mediaNodeRecords],
            arguments: [.milliseconds(Self.timeToLive), .int(Self.most)])
        let replies = try await connection.execute(command).array ?? []
        return stride(from: 0, to: replies.count - 1, by: 2).compactMap { index in
            guard let id = replies[index].string, let bytes = replies[index + 1].bytes,
                let fields = try? FieldReader(encoded: bytes), let record = try? MediaNodeRecord(from: fields)
            else { return nil }
            return LiveMediaNode(id: MediaNodeID(id), record: record)
        }
    }
}

/// A media node and what it tells of itself.
package struct LiveMediaNode: Equatable, Sendable {
    package var id: MediaNodeID
    package var record: MediaNodeRecord

    package init(id: MediaNodeID, record: MediaNodeRecord) {
        self.id = id
        self.record = record
    }
}
