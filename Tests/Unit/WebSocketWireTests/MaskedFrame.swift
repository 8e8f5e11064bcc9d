/// Builds a client's WebSocket frame, well formed or malformed.
struct MaskedFrame {
    var opcode: UInt8
    var payload: [UInt8]
    var isFinal = true
    var reserved: UInt8 = 0
    var key: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]
    /// The size of the extended length field: 0, 2 or 8 bytes; nil for the shortest that fits.
    var lengthBytes: Int?
    /// The length to write in the header instead of the payload's own.
    var claimedLength: UInt64?

    static func text(_ text: String, isFinal: Bool = true) -> Self {
        Self(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
    }
    static func continuation(_ text: String, isFinal: Bool = true) -> Self {
        Self(opcode: 0, payload: Array(text.utf8), isFinal: isFinal)
    }
    static func ping(_ text: String) -> Self { Self(opcode: 9, payload: Array(text.utf8)) }
    static func pong(_ text: String) -> Self { Self(opcode: 10, payload: Array(text.utf8)) }
    static func close(_ payload: [UInt8] = [3, 0xE8]) -> Self { Self(opcode: 8, payload: payload) }

    var header: [UInt8] {
        let length = claimedLength ?? UInt64(payload.count)
        let count = lengthBytes ?? (length > 65_535 ? 8 : length > 125 ? 2 : 0)
        let short = count == 8 ? 127 : count == 2 ? 126 : UInt8(length)
        let long = (0..<count).map { UInt8(truncatingIfNeeded: length >> (8 * (count - 1 - $0))) }
        return [(isFinal ? 0x80 : 0) | reserved << 4 | opcode, (key == nil ? 0 : 0x80) | short] + long + (key ?? [])
    }

    var bytes: [UInt8] {
        guard let key else { return header + payload }
        return header + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }
}
