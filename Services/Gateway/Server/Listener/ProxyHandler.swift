internal import GatewayLogic
internal import NIOCore
internal import ServiceMetrics

/// Reads the PROXY protocol header at the start of a proxied connection, sets the connection up for the client's
/// address and then removes itself.
///
/// A proxy that sends no valid header within the timeout is disconnected.
final class ProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private static let timeout = Duration.seconds(5)

    private let enter: (SocketAddress?) throws -> Void
    private var bytes = ByteBuffer()
    private var timeout: Scheduled<Void>?
    private var isDone = false

    /// - Parameter enter: sets the connection up for a client at this address; nil when the header gives none, and
    ///   the proxy's own address is to be used.
    init(enter: @escaping (SocketAddress?) throws -> Void) { self.enter = enter }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timeout = context.eventLoop.scheduleTask(in: TimeAmount(Self.timeout)) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timeout?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        bytes.writeImmutableBuffer(unwrapInboundIn(data))
        let start = Array(bytes.readableBytesView.prefix(ProxyHeader.bound))
        switch ProxyHeader(start, parse: { (try? SocketAddress(ipAddress: $0, port: 0))?.bytes }) {
        case .incomplete: break
        case .invalid: refuse(context)
        case .complete(let size, let address): finish(context, size, address)
        }
    }

    private func finish(_ context: ChannelHandlerContext, _ size: Int, _ address: [UInt8]?) {
        isDone = true
        timeout?.cancel()
        bytes.moveReaderIndex(forwardBy: size)
        do {
            try enter(address.flatMap { try? SocketAddress(packedIPAddress: ByteBuffer(bytes: $0), port: 0) })
        } catch {
            return context.close(promise: nil)
        }
        let rest = bytes
        bytes = ByteBuffer()
        if rest.readableBytes > 0 { context.fireChannelRead(NIOAny(rest)) }
        context.fireChannelReadComplete()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        isDone = true
        GatewayMetrics.shared.proxyRefused.increment()
        context.close(promise: nil)
    }
}
