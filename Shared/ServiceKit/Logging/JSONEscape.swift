internal import SignalingProtocol

/// Writes JSON strings for log lines and health answers. All control characters, including DEL, are escaped, so that a line
/// is safe to show in a terminal. JSON for clients is written by SignalingWire, which this library does not import.
enum JSONEscape {
    /// Appends `text` with its quotation marks.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
            case 0..<0x20, 0x7f:
                bytes += #"\u00"#.utf8
                Hex.append(byte, to: &bytes)
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
