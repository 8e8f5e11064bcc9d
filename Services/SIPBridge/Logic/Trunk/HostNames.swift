/// Names that stand in the machine's hosts file, such as `localhost`, with their first IPv4 address.
package struct HostNames: Equatable, Sendable {
    /// As much of the file as is read.
    package static let maxBytes = 65_536

    private var addresses: [String: String] = [:]

    /// Reads the text of a hosts file.
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

    /// A `sip:` URI with its host's address in place of a name that is in the file; other URIs as they are.
    package func replaced(in uri: String) -> String {
        guard let colon = uri.firstIndex(of: ":") else { return uri }
        let tail = uri[uri.index(after: colon)...]
        // A user part may hold a semicolon, so the host starts after the last `@` before what follows.
        let start = tail.lastIndex(of: "@").map { tail.index(after: $0) } ?? tail.startIndex
        let end = tail[start...].firstIndex { $0 == ":" || $0 == ";" || $0 == "?" } ?? tail.endIndex
        guard let address = address(of: String(tail[start..<end])) else { return uri }
        return uri[..<start] + address + uri[end...]
    }
}
