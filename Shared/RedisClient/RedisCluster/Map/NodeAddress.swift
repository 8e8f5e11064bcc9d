/// Where a Redis server listens.
package struct NodeAddress: Sendable, Hashable, CustomStringConvertible {
    /// Host name or address; an IPv6 address without brackets.
    package var host: String
    /// TCP port.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `host:port`, with brackets around an IPv6 address.
    package var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Reads an address as a cluster gives it in MOVED and ASK: `host:port`, an IPv6 address without brackets.
    /// - Parameter asked: the server that said it: an empty host means its host.
    /// - Returns: nil for the host `?` (the server is to be named by a host name that it has not
    ///   announced), and when this is no address.
    init?(redirect text: Substring, asked: NodeAddress) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            Self.ports.contains(port)
        else { return nil }
        let host = text[..<colon]
        guard host != "?" else { return nil }
        self.init(host: host.isEmpty ? asked.host : String(host), port: port)
    }

    /// The valid TCP ports.
    package static let ports = 1...65_535
}
