/// The input of one run.
struct FuzzInput {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The bytes as text; invalid UTF-8 is repaired.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The first byte, as a choice of variant, and the rest, as the input of that variant.
    var split: (how: UInt8, rest: FuzzInput) { (bytes.first ?? 0, FuzzInput(bytes.dropFirst())) }

    /// The texts between zero bytes; missing ones are empty.
    func texts(_ count: Int) -> [String] {
        let parts = bytes.split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false)
        return (0..<count).map { $0 < parts.count ? String(decoding: parts[$0], as: UTF8.self) : "" }
    }

    /// The bytes cut into pieces of 1 to 16 bytes, in a way chosen by `seed`; 0: one piece.
    func pieces(_ seed: UInt8) -> [[UInt8]] {
        guard seed > 0 else { return [bytes] }
        var pieces: [[UInt8]] = []
        var state = UInt32(seed)
        var rest = bytes[...]
        while !rest.isEmpty {
            state = state &* 1_664_525 &+ 1_013_904_223
            let piece = rest.prefix(Int(state >> 28) + 1)
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}

/// An input that is read as steps, front to back.
struct FuzzReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next byte; nil at the end.
    mutating func next() -> UInt8? { rest.popFirst() }

    /// The next bytes as a number in network order; at the end it is continued with zeros.
    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type = Number.self) -> Number {
        (0..<Number.bitWidth / 8).reduce(0) { number, _ in number << 8 | Number(next() ?? 0) }
    }

    /// The next bytes, after two with their number; fewer at the end.
    mutating func block() -> [UInt8] {
        let count = Int(number(UInt16.self))
        let bytes = Array(rest.prefix(count))
        rest = rest.dropFirst(bytes.count)
        return bytes
    }
}
