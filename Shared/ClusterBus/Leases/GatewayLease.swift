package import BusProtocol
package import SignalingProtocol

/// What a gateway tells by its lease, and in the list that discovery reads: its public
/// address and its number of clients.
package struct GatewayLease: Equatable, Sendable {
    /// The most apps in ``openHooks``.
    package static let mostOpenHooks = 16

    /// An IPv4 address in dotted form.
    package var host: String
    /// The port of plain WebSocket; TLS is on the next one.
    package var port: Int
    /// The connections of the shard that holds the lease.
    package var connections: Int
    /// Apps whose servers the shard leaves alone because questions of their before-hooks failed: the first
    /// ``mostOpenHooks`` by id. Empty also for releases that do not tell, and in the list that discovery reads.
    package let openHooks: [AppID]

    /// - Parameter openHooks: all of them, in any order.
    package init(host: String, port: Int, connections: Int, openHooks: [AppID] = []) {
        self.host = host
        self.port = port
        self.connections = connections
        self.openHooks = Array(openHooks.sorted().prefix(Self.mostOpenHooks))
    }
}

extension GatewayLease: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            host: try fields.field("host", \.host),
            port: try fields.field("port", \.port),
            connections: try fields.field("connections", \.connections),
            openHooks: try fields.repeated("openHook", \.openHooks))
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

    /// The apps in the ``GatewayLease/openHooks`` of any of a gateway's shards.
    /// - Returns: by id, for the name of each run; a gateway none of whose shards has told is missing.
    package static func openHooks(by leases: [GatewayID: GatewayLease]) -> [String: [AppID]] {
        var apps: [String: Set<AppID>] = [:]
        for (id, lease) in leases {
            if let run = id.run { apps[run, default: []].formUnion(lease.openHooks) }
        }
        return apps.mapValues { $0.sorted() }
    }
}
