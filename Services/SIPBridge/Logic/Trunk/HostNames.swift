/// The names in the machine's hosts file, such as `localhost`, with their first IPv4 addresses.
package struct HostNames: Equatable, Sendable {
    /// The number of bytes that are read of the file.
    package static let maxBytes = 65_536

    private var addresses: [String: String] = [:]

    /// Parses the text of a hosts file.
    package init(hostsFile text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard let address = words.first, address.contains("."), !address.contains(":") else { continue }
            for name in words.dropFirst() where addresses[name.lowercased()] == nil {
                addresses[name.lowercased()] = String(address)
            }
        }
    }

    /// The address of a name; nil when the name is not in the file.
    package func address(of name: String) -> String? { addresses[name.lowercased()] }

    /// Replaces the host of a `sip:` URI by its address, if its name is in the file; other URIs are returned unchanged.
    package func replaced(in uri: String) -> String {
        guard let colon = uri.firstIndex(of: ":") else { return uri }
        let tail = uri[uri.index(after: colon)...]
        // A user part may contain a semicolon, so the host starts after the last `@` before the parameters.
        let start = tail.lastIndex(of: "@").map { tail.index(after: $0) } ?? tail.startIndex
        let end = tail[start...].firstIndex { $0 == ":" || $0 == ";" || $0 == "?" } ?? tail.endIndex
        guard let address = address(of: String(tail[start..<end])) else { return uri }
        return uri[..<start] + address + uri[end...]
    }
}
