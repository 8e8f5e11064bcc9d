package import SignalingProtocol

/// Where a webhook's requests go: an `http` or `https` URL without user and fragment. Up to
/// 2000 visible ASCII characters.
package struct WebhookURL: Equatable, Sendable, FieldValue {
    /// The longest URL.
    package static let maxBytes = 2000

    /// The URL as it was given.
    package let text: String
    /// Whether TLS is used.
    package let isSecure: Bool
    /// The host's name or numeric address; an IPv6 address without brackets.
    package let host: String
    /// The port; 80 or 443 unless the URL names one.
    package let port: Int
    /// The path and the query; at least `/`.
    package let target: String

    /// Reads a URL; nil when it is none that a webhook may have.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.utf8.contains(0x23), !text.utf8.contains(0x5C)
        else { return nil }
        let rest: Substring
        if text.lowercased().hasPrefix("https://") {
            isSecure = true
            rest = text.dropFirst("https://".count)
        } else if text.lowercased().hasPrefix("http://") {
            isSecure = false
            rest = text.dropFirst("http://".count)
        } else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@"), let (host, port) = Self.place(authority) else { return nil }
        self.text = text
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        let path = rest.dropFirst(authority.count)
        target = path.hasPrefix("/") ? String(path) : "/\(path)"
    }

    /// The value of the header `Host`.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    private static func place(_ authority: Substring) -> (host: String, port: Int?)? {
        let host: Substring
        let rest: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard host.contains(":"), host.utf8.allSatisfy({ isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E }) else {
                return nil
            }
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority.dropFirst(host.count)
            guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy(isOfName) else { return nil }
        }
        if rest.isEmpty { return (String(host), nil) }
        guard rest.hasPrefix(":"), rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(rest.dropFirst()), (1...65_535).contains(port)
        else { return nil }
        return (String(host), port)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
            || byte == 0x2E || byte == 0x5F
    }

    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }
    /// Reads and validates a URL.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        guard let url = WebhookURL(try reader.string(name)) else { throw FieldReader.malformed(name, "URL") }
        self = url
    }
}
