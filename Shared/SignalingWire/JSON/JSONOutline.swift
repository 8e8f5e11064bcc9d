internal import SignalingProtocol

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The positions of the outer values of a JSON text. One pass validates the whole text; a value is decoded only when it
/// is asked for. Valid as long as the text's bytes are.
struct JSONOutline {
    /// The levels of arrays and objects whose elements have entries: a frame, a call in it, the call's arguments.
    private static let levels = 3

    /// A value.
    private struct Entry {
        let kind: JSONKind
        /// Strings only: whether it has escape sequences.
        var hasEscapes = false
        let start: Int
        var end = 0
        /// The number of elements of an array, or of names and values of an object.
        var count = 0
        /// The index of the entry that follows this one and everything inside it.
        var next = 0
    }

    /// Names one value of the outline.
    struct Place {
        fileprivate let index: Int
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var entries: [Entry] = []

    /// Reads a value.
    /// - Throws: `SignalingError` (1004, `malformed`), as `JSONValue.parse`.
    init(_ scanner: inout JSONScanner) throws(SignalingError) {
        bytes = scanner.bytes
        // Calls rarely have more than six arguments.
        entries.reserveCapacity(20)
        try add(&scanner, depth: 0)
    }

    private mutating func add(_ scanner: inout JSONScanner, depth: Int) throws(SignalingError) {
        let index = entries.count
        var entry = Entry(kind: try scanner.next(), start: scanner.index)
        entries.append(entry)
        switch entry.kind {
        case .array where depth < Self.levels:
            try scanner.array(depth: depth + 1) { scanner throws(SignalingError) in
                entry.count += 1
                try add(&scanner, depth: depth + 1)
            }
        case .object where depth < Self.levels:
            try scanner.object(depth: depth + 1) { (scanner, _) throws(SignalingError) in
                entry.count += 2
                try add(&scanner, depth: depth + 1)
            } name: { scanner throws(SignalingError) in
                var name = Entry(kind: .string, start: scanner.index)
                name.hasEscapes = try scanner.skipString()
                name.end = scanner.index
                name.next = entries.count + 1
                entries.append(name)
            }
        case .string:
            entry.hasEscapes = try scanner.skipString()
        case .array, .object, .number, .word:
            try scanner.skip(depth: depth)
        }
        entry.end = scanner.index
        entry.next = entries.count
        entries[index] = entry
    }

    /// The outermost value.
    var root: Place { Place(index: 0) }

    func kind(of place: Place) -> JSONKind { entries[place.index].kind }

    /// The elements of an array of exactly two; nil for other values.
    func pair(at place: Place) -> (Place, Place)? {
        guard kind(of: place) == .array, entries[place.index].count == 2 else { return nil }
        let first = place.index + 1
        return (Place(index: first), Place(index: entries[first].next))
    }

    /// The elements of an array of exactly three; nil for other values.
    func triple(at place: Place) -> (Place, Place, Place)? {
        guard kind(of: place) == .array, entries[place.index].count == 3 else { return nil }
        let first = place.index + 1
        let second = entries[first].next
        return (Place(index: first), Place(index: second), Place(index: entries[second].next))
    }

    /// An object's member; the last of equal names, as `JSONValue` has it.
    func member(_ name: StaticString, of object: Place) -> Place? {
        guard kind(of: object) == .object else { return nil }
        var found: Place?
        var index = object.index + 1
        for _ in 0..<(entries[object.index].count / 2) {
            if isString(Place(index: index), name) { found = Place(index: index + 1) }
            index = entries[index + 1].next
        }
        return found
    }

    /// Whether the value is this string.
    func isString(_ place: Place, _ text: StaticString) -> Bool {
        isString(place, UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether the value is a string of these bytes.
    func isString(_ place: Place, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = entries[place.index]
        guard entry.kind == .string else { return false }
        guard !entry.hasEscapes else { return isEscaped(place, text) }
        // Between the quotes.
        guard entry.end - entry.start - 2 == text.count, let base = text.baseAddress else { return false }
        return memcmp(bytes.baseAddress.map { $0 + entry.start + 1 } ?? base, base, text.count) == 0
    }

    /// Whether a string with escapes is a string of these bytes. Compared in place: a call with thousands of names is
    /// looked through once for each argument, and must not cost a decoded string each time.
    private func isEscaped(_ place: Place, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = entries[place.index]
        // Between the quotes.
        let end = entry.end - 1
        var (index, position) = (entry.start + 1, 0)
        while index < end {
            guard position < text.count else { return false }
            var byte = bytes[index]
            if byte == UInt8(ascii: "\\") {
                guard let escaped = asciiEscape(at: &index) else {
                    // An escape of more than one byte. Decoded only where the text has such a character too.
                    guard text[position] >= 0x80 else { return false }
                    return value(at: place).string.map { $0.utf8.elementsEqual(text) } ?? false
                }
                byte = escaped
            } else {
                index += 1
            }
            guard byte == text[position] else { return false }
            position += 1
        }
        return position == text.count
    }

    /// Reads an escape, which the outline's pass has validated, and moves behind it; nil if it is not one of ASCII.
    private func asciiEscape(at index: inout Int) -> UInt8? {
        let letter = bytes[index + 1]
        defer { index += letter == UInt8(ascii: "u") ? 6 : 2 }
        switch letter {
        case UInt8(ascii: "u"):
            var scalar = 0
            for digit in bytes[index + 2..<index + 6] { scalar = scalar << 4 | Int(Hex.value(of: digit) ?? 0) }
            return scalar < 0x80 ? UInt8(scalar) : nil
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        default: return letter
        }
    }

    /// The raw text of a value.
    func text(at place: Place) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[entries[place.index].start..<entries[place.index].end])
    }

    /// The value itself.
    func value(at place: Place) -> JSONValue {
        var scanner = JSONScanner(bytes: bytes, at: entries[place.index].start)
        // The outline's pass has validated it, so this cannot fail.
        return (try? scanner.value(depth: 0)) ?? .null
    }
}
