internal import SignalingWire

/// Where clients reach a gateway, and how busy it is: the text of its lease.
struct GatewayAddress: Hashable, Sendable {
    /// Dotted IPv4.
    var host: String
    /// Plain WebSocket; TLS is on the next one.
    var port: Int

    /// The lease's JSON.
    func leaseText(connections: Int) -> String {
        JSONValue.object([
            JSONMember("host", .string(host)), JSONMember("port", .number(String(port))),
            JSONMember("connections", .number(String(connections))),
        ]).compactText
    }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads a lease; nil when it is none.
    init?(leaseText: String) {
        guard let json = try? JSONValue.parse(leaseText.utf8), case .string(let host)? = json["host"],
            case .number(let port)? = json["port"], let port = Int(port)
        else { return nil }
        self.init(host: host, port: port)
    }
}
