internal import NIOCore

/// Writes finished WebSocket frames past the frame encoder.
///
/// A channel event is framed once and the same bytes go to every member: encoding per member would cost a header buffer
/// and a second write each (`Docs/decisions/`).
final class FrameOutlet: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends the frames at once.
    func send(_ frames: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(frames), promise: nil)
    }

    /// Sends the frames with the next ``flush()``.
    func enqueue(_ frames: ByteBuffer) {
        context?.write(wrapOutboundOut(frames), promise: nil)
    }

    /// Sends what is enqueued.
    func flush() { context?.flush() }
}

extension ByteBuffer {
    /// Appends one unmasked, final text frame. Source: RFC 6455, section 5.2.
    mutating func writeTextFrame(_ payload: [UInt8]) {
        writeInteger(UInt8(0x81))
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
