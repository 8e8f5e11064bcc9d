/// The head with which a client asks for a WebSocket, as clients write it (RFC 6455, section 4.1).
///
/// It knows no more of HTTP than such heads need. Whatever it does not know for certain is ``other``, and read anew by
/// a whole HTTP decoder: so nothing is accepted here that would be refused there, and the other way round.
package enum OpeningHead: Equatable, Sendable {
    /// More bytes are needed.
    case incomplete
    /// The head asks for a WebSocket.
    /// - Parameters:
    ///   - accept: the answer's `Sec-WebSocket-Accept`.
    ///   - size: the head's length in bytes; what follows are frames.
    case webSocket(accept: String, size: Int)
    /// Anything else.
    case other

    /// The longest head that is read here, in bytes.
    package static let bound = 4096

    private static let start: [UInt8] = Array("GET /".utf8)
    private static let version: [UInt8] = Array(" HTTP/1.1".utf8)
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Reads what has come.
    package init(_ bytes: Span<UInt8>) {
        guard Self.begins(bytes) else {
            self = .other
            return
        }
        let end: Int
        switch Self.end(of: bytes) {
        case .found(let position): end = position
        case .notYet:
            self = .incomplete
            return
        case .never:
            self = .other
            return
        }
        var fields = Fields()
        var position = 0
        var isFirst = true
        while position < end - 2 {
            let line = Self.line(of: bytes, at: position)
            guard isFirst ? Self.asksForRoot(bytes, line) : fields.take(bytes, line) else {
                self = .other
                return
            }
            isFirst = false
            position = line.upperBound + 2
        }
        if let accept = fields.accept { self = .webSocket(accept: accept, size: end) } else { self = .other }
    }

    /// Whether it can still become `GET /` without a path, so that other requests need not wait for their ends.
    private static func begins(_ bytes: Span<UInt8>) -> Bool {
        for index in 0..<min(bytes.count, start.count) where bytes[index] != start[index] { return false }
        guard bytes.count > start.count else { return true }
        return bytes[start.count] == UInt8(ascii: " ") || bytes[start.count] == UInt8(ascii: "?")
    }

    private enum End {
        /// The position after the empty line.
        case found(Int)
        case notYet
        /// The head is too long, has too many lines, or line feeds of their own.
        case never
    }

    private static func end(of bytes: Span<UInt8>) -> End {
        var lines = 0
        for index in 0..<min(bytes.count, bound) where bytes[index] == lineFeed {
            guard index > 0, bytes[index - 1] == carriageReturn else { return .never }
            if index > 2, bytes[index - 2] == lineFeed { return .found(index + 1) }
            lines += 1
            guard lines <= 1 + Fields.bound else { return .never }
        }
        return bytes.count < bound ? .notYet : .never
    }

    /// The bytes up to the next line feed, without it and the carriage return before it.
    private static func line(of bytes: Span<UInt8>, at position: Int) -> Range<Int> {
        var index = position + 1
        while bytes[index] != lineFeed { index += 1 }
        return position..<(index - 1)
    }

    /// Whether the request line is `GET / HTTP/1.1`, with or without a query.
    private static func asksForRoot(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        guard line.count >= start.count + version.count else { return false }
        let target = start.count..<(line.upperBound - version.count)
        for index in version.indices where bytes[target.upperBound + index] != version[index] { return false }
        for index in target where !(0x21...0x7E).contains(bytes[index]) { return false }
        return true
    }
}

/// The fields of a head that matter for a WebSocket.
private struct Fields {
    /// The most fields, as everywhere (`HTTPHeadBound`).
    static let bound = 64

    private enum Name {
        case host
        case connection
        case upgrade
        case version
        case key
        /// Of a request with a body, or with more than this reader knows.
        case body
        case other

        init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
            switch range.count {
            case 4 where Fields.equals(bytes, range, "host"): self = .host
            case 6 where Fields.equals(bytes, range, "expect"): self = .body
            case 7 where Fields.equals(bytes, range, "upgrade"): self = .upgrade
            case 10 where Fields.equals(bytes, range, "connection"): self = .connection
            case 14 where Fields.equals(bytes, range, "content-length"): self = .body
            case 17 where Fields.equals(bytes, range, "sec-websocket-key"): self = .key
            case 17 where Fields.equals(bytes, range, "transfer-encoding"): self = .body
            case 21 where Fields.equals(bytes, range, "sec-websocket-version"): self = .version
            default: self = .other
            }
        }
    }

    private var count = 0
    private var hasHost = false
    private var isUpgrade = false
    private var isWebSocket = false
    private var isVersion = false
    /// `Sec-WebSocket-Accept`.
    private var answer: String?

    /// `Sec-WebSocket-Accept` when all fields are there.
    var accept: String? { hasHost && isUpgrade && isWebSocket && isVersion ? answer : nil }

    /// Takes a line.
    /// - Returns: false when the head is not one that is known for certain: a field that matters comes twice or says
    ///   something else, or there are bytes that other readers may understand in other ways.
    mutating func take(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        count += 1
        guard count <= Self.bound, let colon = Self.colon(bytes, line) else { return false }
        var value = (colon + 1)..<line.upperBound
        while let first = value.first, bytes[first] == UInt8(ascii: " ") { value = value.dropFirst() }
        // Some readers take spaces at the end for a part of the value.
        if let last = value.last, bytes[last] == UInt8(ascii: " ") { return false }
        for index in value where !(0x20...0x7E).contains(bytes[index]) { return false }
        switch Name(bytes, line.lowerBound..<colon) {
        case .host: return Self.set(&hasHost, when: !value.isEmpty)
        case .connection: return Self.set(&isUpgrade, when: Self.hasToken(bytes, value, "upgrade"))
        case .upgrade: return Self.set(&isWebSocket, when: Self.equals(bytes, value, "websocket"))
        case .version: return Self.set(&isVersion, when: Self.equals(bytes, value, "13"))
        case .key: return takeKey(bytes, value)
        case .body: return false
        case .other: return true
        }
    }

    private mutating func takeKey(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
        guard answer == nil else { return false }
        answer = WebSocketHandshake.accept(key: String(decoding: value.map { bytes[$0] }, as: UTF8.self))
        return answer != nil
    }

    /// Sets what must be said once, and with this value.
    private static func set(_ field: inout Bool, when isRight: Bool) -> Bool {
        guard isRight, !field else { return false }
        field = true
        return true
    }

    /// Where the name ends; nil when it has other bytes than letters, digits and hyphens.
    private static func colon(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Int? {
        for index in line {
            switch bytes[index] {
            case UInt8(ascii: ":"): return index > line.lowerBound ? index : nil
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                continue
            default: return nil
            }
        }
        return nil
    }

    /// Whether the bytes are that text, which has lower case letters, in any case.
    private static func equals(_ bytes: Span<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for (offset, index) in range.enumerated() {
            let byte = bytes[index]
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            guard (isUpper ? byte | 0x20 : byte) == text.utf8Start[offset] else { return false }
        }
        return true
    }

    /// Whether a list separated by commas has the token.
    private static func hasToken(_ bytes: Span<UInt8>, _ range: Range<Int>, _ token: StaticString) -> Bool {
        var start = range.lowerBound
        for index in range.lowerBound...range.upperBound
        where index == range.upperBound || bytes[index] == UInt8(ascii: ",") {
            var part = start..<index
            while let first = part.first, bytes[first] == UInt8(ascii: " ") { part = part.dropFirst() }
            while let last = part.last, bytes[last] == UInt8(ascii: " ") { part = part.dropLast() }
            if equals(bytes, part, token) { return true }
            start = index + 1
        }
        return false
    }
}
