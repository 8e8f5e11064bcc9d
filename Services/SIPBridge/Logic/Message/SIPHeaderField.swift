/// One header field.
package struct SIPHeaderField: Equatable, Sendable {
    /// The name as written in the message.
    package var name: String
    /// The value, on one line.
    package var value: String

    /// Creates a field.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The name in lower case, in its full form. Source: RFC 3261 section 7.3.3, RFC 4028, RFC 3515.
    package var canonicalName: String { Self.canonical(name) }

    /// Whether it can be sent: the name is a token, and the value cannot end the line.
    package var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy(Self.isTokenByte)
            && value.utf8.allSatisfy { $0 != 0x0d && $0 != 0x0a && $0 != 0 }
    }

    /// The form in which names are compared.
    package static func canonical(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.utf8.count == 1 ? compact[lower] ?? lower : lower
    }

    private static let compact = [
        "a": "accept-contact", "b": "referred-by", "c": "content-type", "d": "request-disposition",
        "e": "content-encoding", "f": "from", "i": "call-id", "j": "reject-contact", "k": "supported",
        "l": "content-length", "m": "contact", "n": "identity-info", "o": "event", "r": "refer-to", "s": "subject",
        "t": "to", "u": "allow-events", "v": "via", "x": "session-expires", "y": "identity",
    ]

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-.!%*_+`'~".utf8.contains(byte)
        }
    }
}
