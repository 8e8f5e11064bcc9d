/// The transport protocols of SIP; the raw value is the `transport` parameter of a URI.
package enum SIPTransport: String, Hashable, Sendable, CaseIterable {
    /// UDP.
    case udp
    /// TCP.
    case tcp
    /// TLS over TCP.
    case tls

    /// The default port. Source: RFC 3261 section 19.1.2.
    package var standardPort: Int {
        switch self {
        case .udp, .tcp: 5060
        case .tls: 5061
        }
    }
}

/// A peer's address, as the source of its messages.
package struct SIPEndpoint: Hashable, Sendable {
    /// The numeric address, an IPv6 one without brackets.
    package var host: String
    /// The port.
    package var port: Int
    /// The transport.
    package var transport: SIPTransport

    /// Creates an endpoint.
    package init(host: String, port: Int, transport: SIPTransport) {
        self.host = host
        self.port = port
        self.transport = transport
    }
}
