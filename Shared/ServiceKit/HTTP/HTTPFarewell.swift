internal import NIOCore

/// Ends a connection so that its client can read the last answer (RFC 9112, section 9.6).
///
/// A connection that is closed while bytes of it are unread is reset, and a reset destroys what the client has not read
/// yet. So first only the output ends, and what still comes is thrown away until the client closes too.
final class HTTPFarewell: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// How long a client may take to close its side.
    static let patience = Duration.seconds(2)
    /// How much a client may send meanwhile.
    static let bound = 256 * 1024

    private let patience: Duration
    private var left = bound
    private var timer: Scheduled<Void>?

    private init(patience: Duration) { self.patience = patience }

    /// Call it on the channel's event loop, when the last answer has been written.
    static func begin(on channel: any Channel, patience: Duration = patience) {
        do {
            // The first, so that nothing is deciphered or parsed any more.
            try channel.pipeline.syncOperations.addHandler(HTTPFarewell(patience: patience), position: .first)
        } catch {
            return channel.close(promise: nil)
        }
        // By all handlers: a TLS connection says that this is the end.
        channel.close(mode: .output).whenFailure { _ in channel.close(promise: nil) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: TimeAmount(patience)) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        left -= unwrapInboundIn(data).readableBytes
        if left < 0 { context.close(promise: nil) }
    }
}
