internal import SignalingProtocol
internal import SignalingWire

/// A base URL that answers `/getaddr`.
struct DiscoveryURL: Equatable {
    var endpoint: GatewayEndpoint
    /// The path without a trailing slash.
    var path: String

    /// Parses `http://HOST[:PORT][/PATH]` or `https://...`.
    /// - Throws: `SignalingError` (1004, `invalid_discovery`).
    init(_ text: String) throws(SignalingError) {
        let invalid = SignalingError(
            .wrongParameter, .invalidDiscovery, "a discovery URL must be an http or https URL with a host")
        let secure: Bool
        var rest: Substring
        if text.hasPrefix("http://") {
            (secure, rest) = (false, text.dropFirst(7))
        } else if text.hasPrefix("https://") {
            (secure, rest) = (true, text.dropFirst(8))
        } else {
            throw invalid
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        rest = rest.dropFirst(authority.count).prefix { $0 != "?" }
        while rest.last == "/" { rest.removeLast() }
        path = String(rest)
        var host = authority
        var port: Int? = secure ? 443 : 80
        // An IPv6 address is written in brackets, because it contains colons itself.
        let end = authority.last == "]" ? nil : authority.lastIndex(of: ":")
        if let end {
            host = authority[..<end]
            port = Int(authority[authority.index(after: end)...]).flatMap { (1...65_535).contains($0) ? $0 : nil }
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, !host.contains("@"), let port else { throw invalid }
        endpoint = GatewayEndpoint(host: String(host), port: port, secure: secure)
    }

    /// The target of the HTTP request, with its values escaped.
    /// - Parameter channel: the channel at whose gateways the client wants to be; nil for any gateway.
    func target(app: String, channel: String? = nil) -> String {
        let target = "\(path)/getaddr?vid=\(Self.escape(app))"
        return channel.map { "\(target)&channel=\(Self.escape($0))" } ?? target
    }

    private static func escape(_ value: String) -> String {
        PercentEscape.escape(value) { byte in
            let character = Character(Unicode.Scalar(byte))
            return byte < 0x80
                && (character.isLetter || character.isNumber || character == "-" || character == "_")
        }
    }

    /// The gateways listed in an answer. It gives the ports for plain WebSocket; the port for TLS is one higher.
    /// Source: `Docs/protocol.md`, "Finding a gateway".
    func endpoints(in body: [UInt8]) -> [GatewayEndpoint] {
        guard case .array(let entries)? = (try? JSONValue.parse(body))?["web"] else { return [] }
        return entries.compactMap { entry in
            guard case .array(let pair) = entry, pair.count == 2, let host = pair[0].string,
                let port = pair[1].integer, (1...65_534).contains(port)
            else { return nil }
            return GatewayEndpoint(host: host, port: Int(port) + (endpoint.secure ? 1 : 0), secure: endpoint.secure)
        }
    }
}
