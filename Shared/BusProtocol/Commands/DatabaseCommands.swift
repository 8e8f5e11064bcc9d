package import SignalingProtocol

/// Asks how the servers of PostgreSQL are doing. The answer may be a second old.
package struct GetDatabaseServers: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "database.servers"
    package static let level: Int64 = 2
    package typealias Reply = DatabaseServers

    package var subject: Subject { .tagged("database") }
    package static var goesToAnyPartition: Bool { true }

    package init() {}

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) { self.init() }
}

/// The servers of PostgreSQL, in the order of the services' URL.
package struct DatabaseServers: Equatable, Sendable, FieldRecord {
    package var servers: [DatabaseServer]

    package init(_ servers: [DatabaseServer]) { self.servers = servers }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.list("servers", \.servers))
    }
}

/// A server of PostgreSQL, as it describes itself.
package struct DatabaseServer: Equatable, Sendable, FieldRecord {
    /// Whether it follows another server.
    package enum Role: String, CaseIterable, Sendable, FieldValue {
        case primary, standby
    }

    /// Its host and port.
    package var name: String
    /// Nil when it does not answer.
    package var role: Role?
    /// Why it does not answer; nil when it does.
    package var problem: String?
    /// The release, such as 15.4; empty when it does not answer.
    package var version = ""
    /// Connections to all its databases, and how many there may be.
    package var connections: Int64 = 0
    package var mostConnections: Int64 = 0
    /// Standbys that receive its changes, and the bytes of changes that the slowest has yet to apply.
    package var standbys: Int64 = 0
    package var lagBytes: Int64 = 0

    package init(name: String, role: Role?) {
        self.name = name
        self.role = role
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(name: try fields.field("name", \.name), role: try fields.optional("role", \.role))
        problem = try fields.optional("problem", \.problem)
        version = try fields.field("version", \.version)
        connections = try fields.field("connections", \.connections)
        mostConnections = try fields.field("most", \.mostConnections)
        standbys = try fields.field("standbys", \.standbys)
        lagBytes = try fields.field("lag", \.lagBytes)
    }
}
