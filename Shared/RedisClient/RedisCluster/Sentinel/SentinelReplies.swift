/// What Sentinels say. Source: Redis documentation, "High availability with Redis Sentinel".
package enum SentinelReplies {
    /// What a Sentinel says of a master.
    package struct Naming: Sendable, Equatable {
        package let master: NodeAddress
        /// Grows with each failover: of two Sentinels, the one with the larger number knows more.
        package let epoch: Int64
        /// The number of Sentinels that watch the master, as far as this one knows.
        let sentinels: Int
    }

    /// The commands whose replies ``naming(_:name:)`` reads.
    package static func commands(name: String) -> [RedisCommand] {
        [
            RedisCommand("SENTINEL", "MASTER", .string(name)),
            RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(name)),
        ]
    }

    /// Reads the replies to ``commands(name:)``. The address is that of the second: from the moment at
    /// which the replica is known to be promoted it names the new master, while the first still names
    /// the old one, with the new epoch.
    /// - Throws: code `SHAPE`.
    package static func naming(_ replies: [RedisValue], name: String) throws(RedisError) -> Naming {
        guard replies.count == 2 else { throw .shape("the reply to SENTINEL MASTER") }
        let fields = try fields(replies[0])
        guard let epoch = fields["config-epoch"].flatMap({ Int64($0) }) else {
            throw .shape("the reply to SENTINEL MASTER")
        }
        let others = fields["num-other-sentinels"].flatMap { Int($0) } ?? 0
        return Naming(master: try master(replies[1], name: name), epoch: epoch, sentinels: 1 + others)
    }

    /// Reads the reply to SENTINEL GET-MASTER-ADDR-BY-NAME.
    /// - Throws: code `SHAPE`: the Sentinel does not know the name, or this is no such reply.
    static func master(_ reply: RedisValue, name: String) throws(RedisError) -> NodeAddress {
        if reply.isNull { throw RedisError(code: .shape, message: "the Sentinel knows no master of the name \(name)") }
        guard let parts = reply.array, parts.count == 2, let host = parts[0].string, !host.isEmpty,
            let port = parts[1].int.map({ Int($0) }), NodeAddress.ports.contains(port)
        else { throw .shape("the reply to SENTINEL GET-MASTER-ADDR-BY-NAME") }
        return NodeAddress(host: host, port: port)
    }

    /// The replicas that have never had their master's data, in the reply to SENTINEL REPLICAS. Sentinel promotes one
    /// like any other: all data would be lost.
    /// - Throws: code `SHAPE`.
    static func neverSynced(_ reply: RedisValue) throws(RedisError) -> [String] {
        guard let replicas = reply.array else { throw .shape("the reply to SENTINEL REPLICAS") }
        var names: [String] = []
        for replica in replicas {
            let fields = try fields(replica)
            guard let name = fields["name"] else { throw .shape("the reply to SENTINEL REPLICAS") }
            // 0 until the first copy has been received, and 1 in some versions. The fields are absent before the
            // Sentinel has asked the replica.
            guard fields["master-link-status"] == "err", let offset = fields["slave-repl-offset"].flatMap({ Int64($0) })
            else { continue }
            if offset <= 1 { names.append(name) }
        }
        return names
    }

    /// Reads a flat array of names and values.
    private static func fields(_ reply: RedisValue) throws(RedisError) -> [String: String] {
        guard let parts = reply.array, parts.count.isMultiple(of: 2) else { throw .shape("a reply of a Sentinel") }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard let name = parts[index].string, let value = parts[index + 1].string else {
                throw .shape("a reply of a Sentinel")
            }
            fields[name] = value
        }
        return fields
    }

    /// What an error reply to ``commands(name:)`` means, in one line; nil when time may cure it.
    package static func refusal(_ error: RedisError, sentinel: NodeAddress, name: String) -> RedisError? {
        if error.message.hasPrefix("No such master") {
            return RedisError(code: .flavour, message: "the Sentinel \(sentinel) knows no master of the name \(name)")
        }
        if error.code == .generic, error.message.hasPrefix("unknown command") {
            return RedisError(code: .flavour, message: "\(sentinel) is not a Sentinel: name the Sentinels instead")
        }
        return nil
    }
}
