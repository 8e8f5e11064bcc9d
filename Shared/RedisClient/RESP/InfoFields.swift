/// The fields of a reply to INFO, or of a Sentinel's description of a server, by name.
package struct InfoFields: Sendable, Equatable {
    private var values: [String: String] = [:]

    /// Reads lines of `NAME:VALUE`; others are skipped.
    package init(info text: String) {
        for line in text.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[String(line[..<colon])] = String(line[line.index(after: colon)...])
        }
    }

    /// Reads an array of names and values in turn.
    package init(pairs reply: RedisValue) {
        let words = reply.texts
        for index in stride(from: 0, to: words.count - 1, by: 2) { values[words[index]] = words[index + 1] }
    }

    package subscript(name: String) -> String? { values[name] }

    /// A field that is an integer.
    package func integer(_ name: String) -> Int64? { values[name].flatMap { Int64($0) } }

    /// A field that is a number; 0 when it is missing.
    package func number(_ name: String) -> Double { values[name].flatMap { Double($0) } ?? 0 }

    /// One of the values in a field of the form `NAME=VALUE,NAME=VALUE...`.
    package func part(_ part: String, of name: String) -> Int64? {
        for pair in (values[name] ?? "").split(separator: ",") where pair.hasPrefix(part + "=") {
            return Int64(pair.dropFirst(part.utf8.count + 1))
        }
        return nil
    }
}
