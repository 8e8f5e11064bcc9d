internal import NIOCore
internal import NIOWebSocket

/// One WebSocket connection to a gateway. Bound to its event loop: created, used and
/// called back there, and not Sendable.
final class Link: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// The largest message from the gateway in bytes: enough for the member list of a channel with a million members.
    static let messageBound = 64 << 20

    private let onText: (ByteBuffer) -> Void
    private let onClose: () -> Void
    private var context: ChannelHandlerContext?
    private var isReading = true
    /// Whether a read was requested while reading was paused.
    private var wantsRead = false

    init(onText: @escaping (ByteBuffer) -> Void, onClose: @escaping () -> Void) {
        self.onText = onText
        self.onClose = onClose
    }

    func send(_ text: [UInt8]) { write(.text, ByteBuffer(bytes: text)) }

    /// Closes the connection without a WebSocket close frame, so that the session stays resumable.
    func close() { context?.close(promise: nil) }

    /// Continues or pauses reading. While reading is paused, the gateway's data waits in the network.
    func setReading(_ reading: Bool) {
        isReading = reading
        guard reading, wantsRead else { return }
        wantsRead = false
        context?.read()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        onClose()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text: onText(frame.unmaskedData)
        case .ping: write(.pong, frame.unmaskedData)
        case .connectionClose:
            write(.connectionClose, frame.unmaskedData)
            context.close(promise: nil)
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        guard let context else { return }
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

extension Link: ChannelOutboundHandler {
    typealias OutboundIn = WebSocketFrame

    func read(context: ChannelHandlerContext) {
        if isReading { context.read() } else { wantsRead = true }
    }
}
