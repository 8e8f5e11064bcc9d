import Glibc

/// A message that tests an edge case of RFC 3261, 4475 or 5118.
struct TortureMessage: Sendable, CustomStringConvertible {
    var name: String
    /// The expected outcome: a status code, `accepted` or `ignored`.
    var outcome: String
    private var text: [UInt8]

    var description: String { name }

    /// The message's bytes, for a sender that listens on `port`.
    func bytes(port: Int) -> [UInt8] { text.replacing("$PORT".utf8, with: "\(port)".utf8) }

    /// All messages; the file itself describes its format.
    static let all: [TortureMessage] = {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let blocks = contents(of: "\(root)/Fixtures/sip/torture.txt").split(separator: "\n=== ")
        return blocks.dropFirst().map { TortureMessage(block: $0) }
    }()

    private init(block: Substring) {
        var lines = block.split(separator: "\n", omittingEmptySubsequences: false)
        // Drops the empty line that separates messages, or that follows the last one.
        if lines.last == "" { lines.removeLast() }
        let title = lines.removeFirst().split(separator: " | ")
        name = String(title[0])
        outcome = String(title[2])
        text = Self.encode(lines[...], name)
    }

    private static func encode(_ lines: ArraySlice<Substring>, _ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, line) in zip(lines.indices, lines) {
            if line.hasPrefix("@head ") {
                bytes += head(String(decoding: plain(line.dropFirst(6)), as: UTF8.self), name)
            } else if line == "@end" {
                bytes += "Content-Length: 0\r\n\r\n".utf8
            } else if line.hasPrefix("@body ") {
                let body = encode(lines[(index + 1)...], name)
                return bytes
                    + "Content-Type: \(line.dropFirst(6))\r\nContent-Length: \(body.count)\r\n\r\n".utf8 + body
            } else {
                let runsOn = line.hasSuffix("\\") && !line.hasSuffix("\\\\")
                bytes += plain(runsOn ? line.dropLast() : line)
                if !runsOn { bytes += "\r\n".utf8 }
            }
        }
        return bytes
    }

    private static func head(_ words: String, _ name: String) -> [UInt8] {
        let words = words.split(separator: " ")
        let fields = [
            ("line", "\(words[0]) sip:desk@127.0.0.1 SIP/2.0"),
            ("via", "Via: SIP/2.0/UDP 127.0.0.1:$PORT;rport;branch=z9hG4bK-\(name)"),
            ("max-forwards", "Max-Forwards: 70"), ("from", "From: <sip:ada@observatory.example>;tag=head"),
            ("to", "To: <sip:desk@127.0.0.1>"), ("call-id", "Call-ID: \(name)-$PORT@observatory.example"),
            ("cseq", "CSeq: 1 \(words[0])"),
        ]
        let written = fields.filter { field, _ in !words.dropFirst().contains { $0 == "-\(field)" } }
        return written.flatMap { Array("\($0.1)\r\n".utf8) }
    }

    /// Resolves the escapes in a text.
    private static func plain(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let escape = rest.firstIndex(of: "\\") {
            bytes += rest[..<escape].utf8
            rest = rest[rest.index(after: escape)...]
            switch rest.removeFirst() {
            case "x":
                bytes.append(UInt8(rest.prefix(2), radix: 16)!)
                rest = rest.dropFirst(2)
            case "{":
                let colon = rest.firstIndex(of: ":")!
                let end = rest.firstIndex(of: "}")!
                let part = plain(rest[rest.index(after: colon)..<end])
                for _ in 0..<Int(rest[..<colon])! { bytes += part }
                rest = rest[rest.index(after: end)...]
            default:
                bytes.append(UInt8(ascii: "\\"))
            }
        }
        return bytes + rest.utf8
    }

    private static func contents(of path: String) -> String {
        guard let file = fopen(path, "rb") else { fatalError("\(path) cannot be read") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let count = fread(&bytes, 1, bytes.count, file)
        precondition(count < bytes.count, "\(path) is larger than expected")
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
