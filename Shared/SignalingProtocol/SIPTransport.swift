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
