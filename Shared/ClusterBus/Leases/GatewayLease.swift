package import BusProtocol
package import SignalingProtocol

/// What a gateway tells by its lease, and in the list that discovery reads: its public
/// address and its number of clients.
package struct GatewayLease: Equatable, Sendable {
    /// An IPv4 address in dotted form.
    package var host: String
    /// The port of plain WebSocket; TLS is on the next one.
    package var port: Int
    /// The connections of the shard that holds the lease.
    package var connections: Int

    package init(host: String, port: Int, connections: Int) {
        self.host = host
        self.port = port
        self.connections = connections
    }
}

extension GatewayLease: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            host: try fields.field("host", \.host),
            port: try fields.field("port", \.port),
            connections: try fields.field("connections", \.connections))
    }
}

/// A gateway that is alive, as discovery reads it.
package struct LiveGateway: Equatable, Sendable {
    /// The gateway's id.
    package let id: GatewayID
    /// The lease as of its last heartbeat.
    package let lease: GatewayLease

    package init(id: GatewayID, lease: GatewayLease) {
        self.id = id
        self.lease = lease
    }
}

extension GatewayID {
    /// The id of one of a gateway's shards.
    /// - Parameters:
    ///   - run: names this run of the gateway's process.
    ///   - shard: its number in the process.
    package init(run: String, shard: Int) { self.init("\(run)-\(shard)") }

    /// The run that the shard is of.
    private var run: String? { rawValue.lastIndex(of: "-").map { String(rawValue[..<$0]) } }

    /// The connections of each gateway, all its shards together.
    /// - Returns: by the name of the run; a gateway none of whose shards has told is missing.
    package static func connections(by leases: [GatewayID: GatewayLease]) -> [String: Int] {
        var connections: [String: Int] = [:]
        for (id, lease) in leases {
            if let run = id.run { connections[run, default: 0] += lease.connections }
        }
        return connections
    }
}
