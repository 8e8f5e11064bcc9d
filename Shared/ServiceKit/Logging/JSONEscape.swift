/// JSON strings, for log lines and health answers. Client frames have a codec of their own in SignalingWire.
enum JSONEscape {
    private static let hex = Array("0123456789abcdef".utf8)

    /// Appends `text` with its quotation marks.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
            case 0..<0x20, 0x7f: bytes += #"\u00"#.utf8 + [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// `text` with its quotation marks.
    static func string(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
