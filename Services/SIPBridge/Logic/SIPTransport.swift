/// What carries SIP; the raw value is the `transport` parameter of a URI.
public enum SIPTransport: String, Hashable, Sendable, CaseIterable {
    /// Datagrams.
    case udp
    /// Connections.
    case tcp
    /// Connections under TLS.
    case tls

    /// The port when none is named. Source: RFC 3261 section 19.1.2.
    public var standardPort: Int {
        switch self {
        case .udp, .tcp: 5060
        case .tls: 5061
        }
    }
}

/// A peer's address as its messages come from it.
public struct SIPEndpoint: Hashable, Sendable {
    /// The numeric address, an IPv6 one without brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// The transport.
    public var transport: SIPTransport

    /// Names an endpoint.
    public init(host: String, port: Int, transport: SIPTransport) {
        self.host = host
        self.port = port
        self.transport = transport
    }
}
