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
