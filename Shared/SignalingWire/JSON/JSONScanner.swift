package import SignalingProtocol

extension JSONValue {
    /// The deepest nesting of arrays and objects that is accepted.
    package static let depthBound = 32

    /// Reads one strict JSON text (RFC 8259). A lone surrogate escape becomes U+FFFD.
    /// - Throws: `SignalingError` (1004, `malformed`).
    package static func parse(_ bytes: some Collection<UInt8>) throws(SignalingError) -> JSONValue {
        try bytes.withBytes { parse($0) }.get()
    }

    static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, SignalingError> {
        Result { () throws(SignalingError) in
            try JSONScanner.scan(bytes) { scanner throws(SignalingError) in try scanner.value(depth: 0) }
        }
    }
}

/// The kind of a JSON value, as its first byte shows.
enum JSONKind {
    case string
    case number
    case object
    case array
    /// `true`, `false`, `null`.
    case word
}

/// Parses JSON in bytes that are valid UTF-8. Hand-written, because frames are the gateway's
/// hot path (`Docs/decisions/0004`).
struct JSONScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    private(set) var index: Int

    /// Starts at `index` of bytes that are known to be UTF-8.
    init(bytes: UnsafeBufferPointer<UInt8>, at index: Int = 0) {
        self.bytes = bytes
        self.index = index
    }

    /// Reads a whole text; `body` reads its value.
    static func scan<Value>(
        _ bytes: UnsafeBufferPointer<UInt8>, _ body: (inout JSONScanner) throws(SignalingError) -> Value
    ) throws(SignalingError) -> Value {
        // Validated once as a whole, so that its strings need no check of their own.
        guard UTF8Text.isValid(bytes) else {
            throw SignalingError(.wrongParameter, .malformed, "not UTF-8")
        }
        var scanner = JSONScanner(bytes: bytes)
        let value = try body(&scanner)
        scanner.skipSpace()
        guard scanner.index == bytes.count else { throw malformed("text after the end") }
        return value
    }

    static func malformed(_ what: String) -> SignalingError {
        SignalingError(.wrongParameter, .malformed, "not JSON: \(what)")
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || (0x09...0x0D).contains(bytes[index]) {
            // Vertical tab and form feed are no JSON white space.
            guard bytes[index] != 0x0B, bytes[index] != 0x0C else { return }
            index += 1
        }
    }

    /// The kind of the value that comes next, by its first byte.
    mutating func next() throws(SignalingError) -> JSONKind {
        skipSpace()
        guard index < bytes.count else { throw Self.malformed("unexpected end") }
        return switch bytes[index] {
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): .word
        default: .number
        }
    }

    /// Reads a value.
    /// - Parameter depth: the number of arrays and objects around it.
    mutating func value(depth: Int) throws(SignalingError) -> JSONValue {
        switch try next() {
        case .string: return .string(try string())
        case .object:
            var members: [JSONMember] = []
            try object(depth: depth + 1) { (scanner, name) throws(SignalingError) in
                members.append(JSONMember(name: name, value: try scanner.value(depth: depth + 1)))
            } name: { scanner throws(SignalingError) in
                try scanner.string()
            }
            return .object(members)
        case .array:
            var values: [JSONValue] = []
            try array(depth: depth + 1) { scanner throws(SignalingError) in
                values.append(try scanner.value(depth: depth + 1))
            }
            return .array(values)
        case .word: return try word()
        case .number:
            let start = index
            try skipNumber()
            return .number(String(decoding: bytes[start..<index], as: UTF8.self))
        }
    }

    /// Skips a value.
    mutating func skip(depth: Int) throws(SignalingError) {
        switch try next() {
        case .string: try skipString()
        case .object:
            try object(depth: depth + 1) { (scanner, _) throws(SignalingError) in
                try scanner.skip(depth: depth + 1)
            } name: { scanner throws(SignalingError) in
                try scanner.skipString()
            }
        case .array:
            try array(depth: depth + 1) { scanner throws(SignalingError) in try scanner.skip(depth: depth + 1) }
        case .word: _ = try word()
        case .number: try skipNumber()
        }
    }

    /// Reads an object: `name` reads each member's name, then `member` its value.
    @inline(__always)
    mutating func object<Name>(
        depth: Int, member: (inout JSONScanner, Name) throws(SignalingError) -> Void,
        name: (inout JSONScanner) throws(SignalingError) -> Name
    ) throws(SignalingError) {
        try enter(depth)
        skipSpace()
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipSpace()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
                throw Self.malformed("a member's name is missing")
            }
            let name = try name(&self)
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw Self.malformed("a colon is missing") }
            try member(&self, name)
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw Self.malformed("an object is not closed") }
    }

    /// Reads a list: `element` reads each value.
    @inline(__always)
    mutating func array(
        depth: Int, element: (inout JSONScanner) throws(SignalingError) -> Void
    ) throws(SignalingError) {
        try enter(depth)
        skipSpace()
        if take(UInt8(ascii: "]")) { return }
        repeat {
            try element(&self)
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw Self.malformed("a list is not closed") }
    }

    private mutating func enter(_ depth: Int) throws(SignalingError) {
        guard depth <= JSONValue.depthBound else { throw Self.malformed("nested deeper than \(JSONValue.depthBound)") }
        index += 1
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func word() throws(SignalingError) -> JSONValue {
        if take("true") { return .bool(true) }
        if take("false") { return .bool(false) }
        if take("null") { return .null }
        throw Self.malformed("an unknown literal")
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count - index >= count, (0..<count).allSatisfy({ bytes[index + $0] == word.utf8Start[$0] }) else {
            return false
        }
        index += count
        return true
    }

    private mutating func skipNumber() throws(SignalingError) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
    }

    private mutating func digits() throws(SignalingError) {
        let start = index
        while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
        guard index > start else { throw Self.malformed("a number without digits") }
    }

    private mutating func string() throws(SignalingError) -> String {
        index += 1
        let start = index
        guard try skipToSpecial() == UInt8(ascii: "\"") else { return try escapedString(from: start) }
        index += 1
        return String(decoding: bytes[start..<(index - 1)], as: UTF8.self)
    }

    /// Skips a string.
    /// - Returns: whether it has escapes.
    @discardableResult
    mutating func skipString() throws(SignalingError) -> Bool {
        index += 1
        guard try skipToSpecial() == UInt8(ascii: "\\") else {
            index += 1
            return false
        }
        // Escapes are rare; resolving them checks that they are valid.
        _ = try escapedString(from: index)
        return true
    }

    /// Moves to the next quotation mark or backslash of a string.
    private mutating func skipToSpecial() throws(SignalingError) -> UInt8 {
        index = JSONText.firstSpecial(in: bytes, from: index)
        guard index < bytes.count else { throw Self.malformed("a string is not closed") }
        guard bytes[index] >= 0x20 else { throw Self.malformed("a control character in a string") }
        return bytes[index]
    }

    private mutating func escapedString(from start: Int) throws(SignalingError) -> String {
        var text = Array(bytes[start..<index])
        while true {
            let run = index
            let special = try skipToSpecial()
            text.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[run..<index]))
            index += 1
            if special == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            try escape(into: &text)
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(SignalingError) {
        guard index < bytes.count else { throw Self.malformed("an incomplete escape") }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): try unicodeEscape(into: &text)
        default: throw Self.malformed("an unknown escape")
        }
    }

    private mutating func unicodeEscape(into text: inout [UInt8]) throws(SignalingError) {
        let unit = try hexUnit()
        if UTF16.isLeadSurrogate(unit), bytes.count - index >= 6, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        {
            let mark = index
            index += 2
            let trail = try hexUnit()
            if UTF16.isTrailSurrogate(trail) {
                text.append(contentsOf: String(decoding: [unit, trail], as: UTF16.self).utf8)
                return
            }
            index = mark
        }
        text.append(contentsOf: String(decoding: [unit], as: UTF16.self).utf8)
    }

    private mutating func hexUnit() throws(SignalingError) -> UInt16 {
        guard bytes.count - index >= 4 else { throw Self.malformed("an incomplete escape") }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let byte = bytes[index]
            index += 1
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw Self.malformed("an escape is not hex")
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
