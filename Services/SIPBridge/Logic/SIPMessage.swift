/// A datagram, as far as it can be understood. Bytes stay bytes: quoted strings may hold any of them.
enum SIPMessage {
    /// Nothing but line ends, as phones send to keep a path open.
    case keepAlive
    /// An answer; this side asks nothing, so it belongs to nobody.
    case response
    /// Not even a header field with a usable name.
    case unintelligible
    /// A request, maybe with a problem that asks for a 400.
    case request(SIPRequest)

    /// Reads one whole datagram of at most ``SIPLimits/messageBytes``.
    init(datagram: [UInt8]) {
        if datagram.allSatisfy({ $0 == 0x0d || $0 == 0x0a || $0 == 0 }) {
            self = .keepAlive
            return
        }
        var scanner = SIPLineScanner(datagram)
        guard let start = scanner.next(), !start.isEmpty else {
            self = .unintelligible
            return
        }
        if start.starts(with: "SIP/".utf8) {
            self = .response
            return
        }
        var headers: [SIPHeader] = []
        var problem: SIPProblem?
        while true {
            guard let line = scanner.nextUnfolded() else {
                problem = problem ?? .unfinished
                break
            }
            if line.isEmpty { break }
            guard headers.count < SIPLimits.headers else {
                problem = problem ?? .tooManyHeaders
                break
            }
            if let header = SIPHeader(line: line[...]), !header.value.contains(0x0d) {
                headers.append(header)
            } else {
                problem = problem ?? .header
            }
        }
        guard !headers.isEmpty else {
            self = .unintelligible
            return
        }
        self = .request(SIPRequest(start: start, headers: headers, problem: problem, bodyBytes: scanner.remaining))
    }
}

/// Walks over lines that end in a line feed, with or without a carriage return before it.
private struct SIPLineScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }

    /// The next line without its end; nil when there is none that ends.
    mutating func next() -> ArraySlice<UInt8>? {
        guard let end = bytes[position...].firstIndex(of: 0x0a) else { return nil }
        defer { position = end + 1 }
        let line = bytes[position..<end]
        return line.last == 0x0d ? line.dropLast() : line
    }

    /// The next line with those that continue it, joined by one space each.
    mutating func nextUnfolded() -> [UInt8]? {
        guard let first = next() else { return nil }
        var line = Array(first)
        while !line.isEmpty, position < bytes.count, SIPBytes.isSpace(bytes[position]), let more = next() {
            line.append(0x20)
            line += SIPBytes.trimmed(more)
        }
        return line
    }
}
