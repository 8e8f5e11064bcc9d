/// The header of a client's frame. Source: RFC 6455, section 5.2.
struct WebSocketFrameHeader {
    let isFinal: Bool
    let opcode: WebSocketOpcode
    /// The four bytes of the masking key, in memory order.
    let maskingKey: UInt32
    /// The size of the header in bytes.
    let size: Int
    /// The size of the payload in bytes, at most the reader's bound.
    let payloadBytes: Int

    /// Parses the header at the beginning of the bytes.
    /// - Parameter bound: the largest payload in bytes.
    /// - Returns: the header, nil while it is incomplete; and the size of the whole frame, or the number of bytes
    ///   needed to continue with the header.
    /// - Throws: `WebSocketFrameError` as soon as the header shows that the frame is never allowed.
    static func read(_ bytes: RawSpan, bound: Int) throws(WebSocketFrameError) -> (header: Self?, wanted: Int) {
        guard bytes.byteCount >= 2 else { return (nil, 2) }
        let first = bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        let second = bytes.unsafeLoad(fromByteOffset: 1, as: UInt8.self)
        let isFinal = first & 0x80 != 0
        let length = second & 0x7F
        guard first & 0x70 == 0 else { throw .notAFrame("reserved bits") }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .unexpectedOpcode }
        guard second & 0x80 != 0 else { throw .notAFrame("no mask") }
        if opcode.isControl {
            guard isFinal else { throw .notAFrame("fragment of a control frame") }
            guard length <= 125 else { throw .notAFrame("control frame over 125 bytes") }
            guard opcode != .close || length != 1 else { throw .notAFrame("half a close code") }
        }
        let lengthBytes = length == 127 ? 8 : length == 126 ? 2 : 0
        let size = 2 + lengthBytes + 4
        guard bytes.byteCount >= size else { return (nil, size) }
        let payloadBytes = try payloadBytes(length, bytes, bound: bound)
        let header = Self(
            isFinal: isFinal, opcode: opcode,
            maskingKey: bytes.unsafeLoadUnaligned(fromByteOffset: size - 4, as: UInt32.self),
            size: size, payloadBytes: payloadBytes)
        return (header, size + payloadBytes)
    }

    /// The payload's length, which must be encoded in the fewest possible bytes.
    private static func payloadBytes(
        _ length: UInt8, _ bytes: RawSpan, bound: Int
    ) throws(WebSocketFrameError) -> Int {
        switch length {
        case 126:
            let length = UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt16.self))
            guard length > 125 else { throw .notAFrame("length in too many bytes") }
            guard Int(length) <= bound else { throw .frameTooLarge(bound) }
            return Int(length)
        case 127:
            let length = UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt64.self))
            guard length >> 63 == 0 else { throw .notAFrame("length of 64 bits") }
            guard length > UInt64(UInt16.max) else { throw .notAFrame("length in too many bytes") }
            guard length <= UInt64(bound) else { throw .frameTooLarge(bound) }
            return Int(length)
        default:
            return Int(length)
        }
    }
}
