/// A header field: its name in lower case and long form, its value unfolded and trimmed.
struct SIPHeader: Equatable {
    let name: String
    let value: [UInt8]

    /// Takes a line apart that holds no line feed any more; nil when it is no header field.
    init?(line: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var name = line[..<colon]
        while let last = name.last, SIPBytes.isSpace(last) { name = name.dropLast() }
        guard SIPBytes.isToken(name) else { return nil }
        let text = String(decoding: name.map(SIPBytes.lowercased), as: UTF8.self)
        self.name = Self.longForms[text] ?? text
        value = Array(SIPBytes.trimmed(line[(colon + 1)...]))
    }

    /// The compact names that matter here; source: RFC 3261 section 7.3.3.
    private static let longForms = [
        "v": "via", "f": "from", "t": "to", "i": "call-id", "l": "content-length", "c": "content-type",
        "m": "contact", "k": "supported",
    ]
}
