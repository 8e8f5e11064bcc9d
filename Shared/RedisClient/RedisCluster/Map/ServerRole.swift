/// What a server is in its replication. Source: the command ROLE.
package enum ServerRole: Sendable, Equatable {
    case master
    /// A copy of this master.
    case replica(of: NodeAddress)
    case sentinel

    /// Reads the reply to ROLE.
    /// - Throws: code `SHAPE`.
    init(_ reply: RedisValue) throws(RedisError) {
        guard let parts = reply.array, let word = parts.first?.string else { throw .shape("the reply to ROLE") }
        switch word {
        case "master": self = .master
        case "sentinel": self = .sentinel
        case "slave":
            guard parts.count >= 3, let host = parts[1].string, let port = parts[2].int else {
                throw .shape("the reply to ROLE")
            }
            self = .replica(of: NodeAddress(host: host, port: Int(port)))
        default: throw .shape("the reply to ROLE")
        }
    }
}
