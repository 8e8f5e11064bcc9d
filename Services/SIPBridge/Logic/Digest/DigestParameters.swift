/// The parameters of a challenge or of credentials: `Digest name=value, name="value"`.
struct DigestParameters: Equatable {
    private var values: [String: String] = [:]

    /// Parses a header's value; nil for another scheme, malformed text, or a repeated parameter.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        rest = rest.drop(while: SIPText.isSpace)
        let scheme = rest.prefix { !SIPText.isSpace($0) }
        guard String(decoding: scheme, as: UTF8.self).lowercased() == "digest" else { return nil }
        rest = rest.dropFirst(scheme.count)
        while true {
            rest = rest.drop { SIPText.isSpace($0) || $0 == UInt8(ascii: ",") }
            if rest.isEmpty { break }
            let name = rest.prefix { SIPHeaderField.isTokenByte($0) }
            rest = rest.dropFirst(name.count).drop(while: SIPText.isSpace)
            guard !name.isEmpty, rest.first == UInt8(ascii: "=") else { return nil }
            rest = rest.dropFirst().drop(while: SIPText.isSpace)
            guard let value = Self.value(&rest) else { return nil }
            let key = String(decoding: name, as: UTF8.self).lowercased()
            guard values.updateValue(value, forKey: key) == nil else { return nil }
            rest = rest.drop(while: SIPText.isSpace)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
    }

    subscript(name: String) -> String? { values[name] }

    private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { $0 != UInt8(ascii: ",") && !SIPText.isSpace($0) }
            rest = rest.dropFirst(token.count)
            return String(decoding: token, as: UTF8.self)
        }
        var value: [UInt8] = []
        var index = rest.startIndex + 1
        while index < rest.endIndex {
            switch rest[index] {
            case UInt8(ascii: "\""):
                rest = rest[(index + 1)...]
                return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\") where index + 1 < rest.endIndex:
                value.append(rest[index + 1])
                index += 2
            default:
                value.append(rest[index])
                index += 1
            }
        }
        return nil
    }
}
