internal import NIOCore
internal import WebSocketWire

extension ByteBuffer {
    /// Appends one unmasked, final frame. Source: RFC 6455, section 5.2.
    mutating func writeWebSocketFrame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        writeInteger(0x80 | opcode.rawValue)
        switch payload.count {
        case ..<126:
            writeInteger(UInt8(payload.count))
        case ..<65_536:
            writeInteger(UInt8(126))
            writeInteger(UInt16(payload.count))
        default:
            writeInteger(UInt8(127))
            writeInteger(UInt64(payload.count))
        }
        writeBytes(payload)
    }
}
