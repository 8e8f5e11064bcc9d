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
