internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A TCP proxy on 127.0.0.1 that passes on late what servers send, and at once what clients send. Between a Redis and
/// its replica it lets the replica lag behind. When one end of a connection closes, so does the other, and what is
/// still held back is lost, as with the host of a server.
package final class LaggingProxy: Sendable {
    /// The proxy's port.
    package let port: Int
    private let target: ProxyTarget
    private let listener: any Channel

    /// Begins to listen.
    /// - Parameters:
    ///   - target: the server's port on 127.0.0.1.
    ///   - delay: how late the server's bytes arrive; default not at all.
    /// - Throws: ``TestFailure``, or an error of the socket.
    package init(to target: Int, delay: Duration = .zero) async throws {
        let port = try RedisServer.freePort()
        let target = ProxyTarget(target)
        let delay = TimeAmount(delay)
        self.port = port
        self.target = target
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { client in
                // On one event loop, so that both ends may write to each other at once.
                ClientBootstrap(group: client.eventLoop).connect(host: "127.0.0.1", port: target.port)
                    .flatMapThrowing { server in
                        try client.pipeline.syncOperations.addHandler(Forwarder(to: server, delay: .zero))
                        try server.pipeline.syncOperations.addHandler(Forwarder(to: client, delay: delay))
                    }
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    /// Leads new connections to another server; existing ones stay.
    package func lead(to port: Int) { target.port = port }

    /// Stops listening. Connections end with their server.
    /// - Throws: an error of the socket.
    package func close() async throws { try await listener.close() }
}

/// A port that may change.
private final class ProxyTarget: Sendable {
    private let value: Mutex<Int>

    init(_ port: Int) { value = Mutex(port) }

    var port: Int {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

/// Passes what one socket receives on to another.
private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    private let delay: TimeAmount
    private var held: CircularBuffer<ByteBuffer> = []

    init(to other: any Channel, delay: TimeAmount) {
        self.other = other
        self.delay = delay
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard delay > .zero else { return other.writeAndFlush(bytes, promise: nil) }
        held.append(bytes)
        // Each timer passes on the oldest bytes, so that the order of timers does not matter.
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            if let bytes = self.held.popFirst() { self.other.writeAndFlush(bytes, promise: nil) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        held.removeAll()
        other.close(promise: nil)
    }
}
