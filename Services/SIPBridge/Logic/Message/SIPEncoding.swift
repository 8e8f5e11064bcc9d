/// A body with its media type.
package struct SIPBody: Equatable, Sendable {
    /// The media type, such as `application/sdp`.
    package var type: String
    /// The bytes.
    package var bytes: [UInt8]

    /// Creates a body.
    package init(type: String, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }
}

/// Encodes the part of a message after the header fields that libre writes: our own fields and the body.
package enum SIPEncoding {
    /// Our header fields, the empty line and the body; nil when a field cannot be sent, for example because of a line
    /// break.
    package static func rest(headers: [SIPHeaderField], body: SIPBody?) -> [UInt8]? {
        var fields = headers
        if let body { fields.append(SIPHeaderField("Content-Type", body.type)) }
        fields.append(SIPHeaderField("Content-Length", String(body?.bytes.count ?? 0)))
        guard fields.allSatisfy(\.isSendable) else { return nil }
        var bytes: [UInt8] = []
        for field in fields { bytes += "\(field.name): \(field.value)\r\n".utf8 }
        bytes += "\r\n".utf8
        if let body { bytes += body.bytes }
        return bytes
    }

    /// Whether the text may be placed between `<` and `>` without being able to end the address or the header field.
    package static func isURI(_ text: String) -> Bool {
        text.contains(":") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x3c && $0 != 0x3e && $0 != 0x22 }
    }

    /// Escapes text for a quoted string. Source: RFC 3261 section 25.1.
    package static func quoted(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7f {
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// A numeric address or host name as written in a URI: an IPv6 address in brackets.
    package static func uriHost(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
