package import SignalingProtocol

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
