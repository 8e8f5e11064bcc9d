/// The bytes of one run.
struct FuzzInput {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Read as text, mended where it is none.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The first byte, which says how, and the rest, which says what.
    var split: (how: UInt8, rest: FuzzInput) { (bytes.first ?? 0, FuzzInput(bytes.dropFirst())) }

    /// The texts between zero bytes, the missing ones empty.
    func texts(_ count: Int) -> [String] {
        let parts = bytes.split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false)
        return (0..<count).map { $0 < parts.count ? String(decoding: parts[$0], as: UTF8.self) : "" }
    }

    /// The bytes in pieces of 1 to 16 bytes, by a number that says in which; 0: in one.
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
