internal import ClusterState

extension SlotMap {
    /// The largest number of masters: what the Redis Cluster specification recommends as the most nodes of a cluster.
    static let maxMasters = 1000
    /// The largest number of one master's replicas that are kept.
    static let maxReplicas = 100

    /// Reads the reply to CLUSTER SLOTS: for each range of slots its first and last slot, the master, the replicas.
    /// Elements that a later Redis may add at the end of an entry are ignored.
    ///
    /// A master's slots stay without an owner while the cluster does not know its address (see ``address(of:asked:)``).
    /// - Parameter asked: the server that replied.
    /// - Throws: code `SHAPE`, saying what is wrong.
    init(reply: RedisValue, asked: NodeAddress) throws(RedisError) {
        guard let entries = reply.array else { throw .slots("it is not an array") }
        guard entries.count <= KeySlot.count else { throw .slots("it has more entries than there are slots") }
        self.init()
        var numbers: [NodeAddress: UInt16] = [:]
        for entry in entries {
            guard let parts = entry.array, parts.count >= 3 else { throw .slots("an entry has no range and master") }
            let range = try Self.range(parts[0], parts[1])
            guard let address = try Self.address(of: parts[2], asked: asked) else { continue }
            let replicas = try Self.replicas(parts.dropFirst(3), asked: asked)
            let master = numbers[address] ?? add(Master(address: address, replicas: []))
            numbers[address] = master
            guard masters.count <= Self.maxMasters else { throw .slots("it has more than \(Self.maxMasters) masters") }
            add(replicas, to: master)
            guard assign(range, to: master) else {
                throw .slots("a slot of \(range.lowerBound) to \(range.upperBound) has two owners")
            }
        }
    }

    private static func range(_ first: RedisValue, _ last: RedisValue) throws(RedisError) -> SlotRange {
        guard case .integer(let first) = first, case .integer(let last) = last else {
            throw .slots("a range's bounds are not integers")
        }
        guard first >= 0, first <= last, last < KeySlot.count else {
            throw .slots("\(first) to \(last) is not a range of slots")
        }
        return UInt16(first)...UInt16(last)
    }

    private static func replicas(
        _ nodes: ArraySlice<RedisValue>, asked: NodeAddress
    ) throws(RedisError) -> [NodeAddress] {
        var replicas: [NodeAddress] = []
        for node in nodes.prefix(maxReplicas) where node.array != nil {
            if let address = try address(of: node, asked: asked) { replicas.append(address) }
        }
        return replicas
    }

    /// Reads a node: endpoint, port, id, further addresses. The endpoint is what `cluster-preferred-endpoint-type` of
    /// the server chooses: its IP address, its host name, or null (also empty) for the host that was asked. A server
    /// whose host name is not announced has the endpoint `?` and its IP address among the further addresses.
    /// - Returns: nil when the node has no address yet.
    private static func address(of node: RedisValue, asked: NodeAddress) throws(RedisError) -> NodeAddress? {
        guard let parts = node.array, parts.count >= 2, case .integer(let port) = parts[1] else {
            throw .slots("a node has no endpoint and port")
        }
        // The port is 0 for a server that does not listen for this kind of connection, with or without TLS.
        guard port != 0 else { return nil }
        guard NodeAddress.ports.contains(Int(port)) else { throw .slots("\(port) is not a port") }
        if parts[0].isNull { return NodeAddress(host: asked.host, port: Int(port)) }
        guard let endpoint = parts[0].string else { throw .slots("a node's endpoint is not text") }
        guard endpoint == "?" else {
            return NodeAddress(host: endpoint.isEmpty ? asked.host : endpoint, port: Int(port))
        }
        return furtherAddress("ip", in: parts).map { NodeAddress(host: $0, port: Int(port)) }
    }

    /// One of a node's further addresses, which are pairs of names and values in one array.
    private static func furtherAddress(_ name: String, in node: [RedisValue]) -> String? {
        guard node.count >= 4, let pairs = node[3].array else { return nil }
        for index in stride(from: 0, to: pairs.count - 1, by: 2) where pairs[index].string == name {
            if let value = pairs[index + 1].string, !value.isEmpty { return value }
        }
        return nil
    }
}

extension RedisError {
    fileprivate static func slots(_ why: String) -> RedisError {
        RedisError(code: .shape, message: "the reply to CLUSTER SLOTS is not usable: \(why)")
    }
}
