internal import SignalingWire

/// Where clients reach a gateway; with its connection count this is the text of the gateway's lease.
struct GatewayAddress: Hashable, Sendable {
    /// An IPv4 address in dotted form.
    var host: String
    /// The port of plain WebSocket; TLS is on the next one.
    var port: Int

    /// The text of the lease, as JSON.
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

    /// Parses the text of a lease; nil when it is malformed.
    init?(leaseText: String) {
        guard let json = try? JSONValue.parse(leaseText.utf8), case .string(let host)? = json["host"],
            case .number(let port)? = json["port"], let port = Int(port)
        else { return nil }
        self.init(host: host, port: port)
    }
}
