internal import Logging
internal import SignalingWire

/// One log event, and its two formats.
struct LogLine {
    /// The largest size of a message or metadata value in bytes; longer ones are truncated.
    static let textBound = 4096

    let time: Timestamp
    let level: Logger.Level
    let label: String
    let message: String
    let metadata: Logger.Metadata

    /// The line including its line feed. Line feeds in the event are escaped, so that no value can forge a line.
    func bytes(_ format: LogFormat) -> [UInt8] {
        var line: [UInt8] = []
        switch format {
        case .json: appendJSON(to: &line)
        case .text: appendText(to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private func appendJSON(to line: inout [UInt8]) {
        line += #"{"time":""#.utf8
        line += time.text.utf8
        line += #"","level":""#.utf8
        line += level.rawValue.utf8
        line += #"","label":"#.utf8
        JSONText.appendPrintable(label, to: &line)
        line += #","message":"#.utf8
        JSONText.appendPrintable(Self.bounded(message), to: &line)
        if !metadata.isEmpty {
            line += #","metadata":{"#.utf8
            for (index, pair) in sorted.enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                JSONText.appendPrintable(pair.key, to: &line)
                line.append(UInt8(ascii: ":"))
                JSONText.appendPrintable(Self.bounded(pair.value.description), to: &line)
            }
            line.append(UInt8(ascii: "}"))
        }
        line.append(UInt8(ascii: "}"))
    }

    private func appendText(to line: inout [UInt8]) {
        line += time.text.utf8
        line += " \(level.rawValue) ".utf8
        Self.appendPlain(Self.bounded(message), to: &line)
        for (key, value) in sorted {
            line += " \(key)=".utf8
            let text = Self.bounded(value.description)
            if text.isEmpty || text.utf8.contains(where: Self.isQuoted) {
                JSONText.appendPrintable(text, to: &line)
            } else {
                line += text.utf8
            }
        }
    }

    /// Whether a value with the byte is quoted, so that none can be taken for several pairs, whoever has chosen it.
    private static func isQuoted(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "=")
    }

    private var sorted: [(key: String, value: Logger.Metadata.Value)] { metadata.sorted { $0.key < $1.key } }

    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > textBound else { return text }
        return String(decoding: text.utf8.prefix(textBound), as: UTF8.self) + "…"
    }

    private static func appendPlain(_ text: String, to line: inout [UInt8]) {
        for byte in text.utf8 { line.append(byte < 0x20 ? UInt8(ascii: " ") : byte) }
    }
}

/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object per line.
    case json
    /// Time, level, message and `key=value` pairs, for people.
    case text
}
