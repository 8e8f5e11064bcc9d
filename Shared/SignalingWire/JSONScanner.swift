public import SignalingProtocol

extension JSONValue {
    /// Arrays and objects within each other at most.
    public static let depthBound = 32

    /// Reads one strict JSON text (RFC 8259). A lone surrogate escape becomes U+FFFD.
    /// - Throws: `SignalingError` (1004, `malformed`).
    public static func parse(_ bytes: some Collection<UInt8>) throws(SignalingError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable { storage in
            Result { () throws(SignalingError) in try parse(storage) }
        }
        if let result { return try result.get() }
        return try parse(ContiguousArray(bytes))
    }

    private static func parse(_ storage: UnsafeBufferPointer<UInt8>) throws(SignalingError) -> JSONValue {
        // Validated once, so that strings may be cut out of it.
        guard (try? UTF8Span(validating: Span(_unsafeElements: storage))) != nil else {
            throw SignalingError(.wrongParameter, "malformed", "not UTF-8")
        }
        var scanner = JSONScanner(bytes: storage)
        let value = try scanner.value(depth: 0)
        scanner.skipSpace()
        guard scanner.isAtEnd else { throw JSONScanner.malformed("text after the end") }
        return value
    }
}

/// Walks over valid UTF-8. Hand-written because frames are the gateway's hot path (`Docs/decisions/0004`).
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    static func malformed(_ what: String) -> SignalingError {
        SignalingError(.wrongParameter, "malformed", "not JSON: \(what)")
    }

    mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || (0x09...0x0D).contains(bytes[index]) {
            // Vertical tab and form feed are no JSON white space.
            guard bytes[index] != 0x0B, bytes[index] != 0x0C else { return }
            index += 1
        }
    }

    mutating func value(depth: Int) throws(SignalingError) -> JSONValue {
        skipSpace()
        guard index < bytes.count else { throw Self.malformed("it ends too early") }
        switch bytes[index] {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(SignalingError) -> JSONValue {
        try enter(depth)
        var members: [JSONMember] = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpace()
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
                throw Self.malformed("a member's name is missing")
            }
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw Self.malformed("a colon is missing") }
            members.append(JSONMember(name: name, value: try value(depth: depth)))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw Self.malformed("an object is not closed") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(SignalingError) -> JSONValue {
        try enter(depth)
        var values: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat {
            values.append(try value(depth: depth))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw Self.malformed("a list is not closed") }
        return .array(values)
    }

    private mutating func enter(_ depth: Int) throws(SignalingError) {
        guard depth <= JSONValue.depthBound else { throw Self.malformed("deeper than \(JSONValue.depthBound)") }
        index += 1
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(SignalingError) -> JSONValue {
        let count = text.utf8CodeUnitCount
        guard bytes.count - index >= count,
            (0..<count).allSatisfy({ bytes[index + $0] == text.utf8Start[$0] })
        else { throw Self.malformed("an unknown word") }
        index += count
        return value
    }

    private mutating func number() throws(SignalingError) -> JSONValue {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return .number(String(decoding: bytes[start..<index], as: UTF8.self))
    }

    private mutating func digits() throws(SignalingError) {
        let start = index
        while index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) { index += 1 }
        guard index > start else { throw Self.malformed("a number without digits") }
    }

    private mutating func string() throws(SignalingError) -> String {
        index += 1
        let start = index
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let text = String(decoding: bytes[start..<index], as: UTF8.self)
                index += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case ..<0x20: throw Self.malformed("a control character in a string")
            default: index += 1
            }
        }
        throw Self.malformed("a string is not closed")
    }

    private mutating func escapedString(from start: Int) throws(SignalingError) -> String {
        var text = Array(bytes[start..<index])
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw Self.malformed("a control character in a string")
            default: text.append(byte)
            }
        }
        throw Self.malformed("a string is not closed")
    }

    private mutating func escape(into text: inout [UInt8]) throws(SignalingError) {
        guard index < bytes.count else { throw Self.malformed("an escape is cut short") }
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
        guard bytes.count - index >= 4 else { throw Self.malformed("an escape is cut short") }
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
