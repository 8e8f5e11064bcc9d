internal import NIOCore
internal import Pacing
internal import ServiceMetrics
internal import WebSocketWire

/// Answers the opening handshake of nearly all clients: a head that asks for a WebSocket and no more than that. What
/// else comes on a connection, discovery above all, is left to a whole HTTP decoder, byte for byte.
///
/// An HTTP decoder, an upgrader, and the removal of both cost a connection more than its login does
/// (`Docs/decisions/0040-opening-handshake.md`).
final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What the connection becomes; both add handlers at the end of the pipeline.
    struct Next {
        /// A WebSocket.
        let webSocket: (any Channel) throws -> Void
        /// A connection of HTTP, with that much time for what it asks.
        let http: (any Channel, Duration) throws -> Void
    }

    /// How many bytes may wait for the answer to be written: as many as one read takes at most. Clients that keep to
    /// the protocol have nothing to say before they have read it (RFC 6455, section 4.1).
    static let waitingBound = 65_536

    private let next: Next
    private let time: Duration
    private let start = LocalTime.now
    /// What has come of the head; and while the answer is being written, what has come after it.
    private var received = ByteBuffer()
    private var isAnswering = false
    private var timer: Scheduled<Void>?

    /// - Parameter time: how long the connection has until it is a WebSocket, or has its answer.
    init(within time: Duration, next: Next) {
        self.next = next
        self.time = time
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if isAnswering, received.readableBytes + bytes.readableBytes > Self.waitingBound {
            GatewayMetrics.shared.cutOff.increment()
            return context.channel.closeAtOnce()
        }
        if received.readableBytes == 0 { received = bytes } else { received.writeBuffer(&bytes) }
        guard !isAnswering else { return }
        // A copy: a span must not outlive an access to a property, which without checks at run time ends at once.
        let head = received
        switch OpeningHead(head.readableBytesUInt8Span) {
        case .incomplete: break
        case .webSocket(let accept, let size):
            received.moveReaderIndex(forwardBy: size)
            answer(accept, context)
        case .other: leave(context) { try next.http($0, max(time - (.now - start).duration, .zero)) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// What the WebSocket sends must not overtake the answer, which the socket nearly always accepts at once.
    private func answer(_ accept: String, _ context: ChannelHandlerContext) {
        isAnswering = true
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success: leave(context, next.webSocket)
            case .failure: context.close(promise: nil)
            }
        }
        var answer = context.channel.allocator.buffer(capacity: 160)
        answer.writeString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ")
        answer.writeString(accept)
        answer.writeString("\r\nConnection: upgrade\r\n\r\n")
        context.writeAndFlush(wrapOutboundOut(answer), promise: written)
    }

    /// Goes, and leaves what has come to those who come after.
    private func leave(_ context: ChannelHandlerContext, _ add: (any Channel) throws -> Void) {
        do {
            try add(context.channel)
        } catch {
            return context.close(promise: nil)
        }
        if received.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(received)) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
