/// A GET or HEAD request to the health listener.
package struct HTTPQuery: Equatable, Sendable {
    /// The path, as it came, without the query.
    package let path: String
    /// The query's fields, percent-decoded; the first of each name counts.
    package let parameters: [String: String]
    /// The `Host` header; nil when there is none.
    package let host: String?

    /// Takes a request target apart, as in `/getaddr?vid=abc`.
    package init(target: String, host: String? = nil) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        var parameters: [String: String] = [:]
        if parts.count == 2 {
            for field in parts[1].split(separator: "&") {
                let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.decoded(pair[0])
                if parameters[name] == nil { parameters[name] = pair.count == 2 ? Self.decoded(pair[1]) : "" }
            }
        }
        self.parameters = parameters
        self.host = host
    }

    private static func decoded(_ text: Substring) -> String {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count, let high = digit(source[index + 1]),
                let low = digit(source[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(source[index] == UInt8(ascii: "+") ? 0x20 : source[index])
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
