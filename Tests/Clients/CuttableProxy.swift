import NIOCore
import NIOPosix
import SignalingClient

/// Forwards TCP connections to a gateway, and cuts them when a test says so.
actor CuttableProxy {
    let endpoint: GatewayEndpoint
    private let listener: any Channel
    private let accepted: Accepted

    /// The open connections; touched on the event loop only.
    private final class Accepted: @unchecked Sendable {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isOpen = true
    }

    init(to target: GatewayEndpoint) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let accepted = Accepted()
        listener = try await ServerBootstrap(group: loop, childGroup: loop)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                guard accepted.isOpen else { return client.close() }
                accepted.channels[ObjectIdentifier(client)] = client
                client.closeFuture.whenComplete { _ in accepted.channels[ObjectIdentifier(client)] = nil }
                return ClientBootstrap(group: loop).connect(host: target.host, port: target.port).flatMap { server in
                    client.eventLoop.makeCompletedFuture {
                        try server.pipeline.syncOperations.addHandler(Pipe(to: client))
                        try client.pipeline.syncOperations.addHandler(Pipe(to: server))
                    }.flatMap { client.setOption(.autoRead, value: true) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.accepted = accepted
        endpoint = GatewayEndpoint(host: "127.0.0.1", port: listener.localAddress?.port ?? 0)
    }

    /// Opens or closes the proxy. While it is closed, its connections are cut and new ones end at once.
    func setOpen(_ open: Bool) async throws {
        try await listener.eventLoop.submit { [accepted] in accepted.isOpen = open }.get()
        if !open { try await cut() }
    }

    /// Cuts every connection; new ones are forwarded.
    func cut() async throws {
        try await listener.eventLoop.submit { [accepted] in
            for channel in accepted.channels.values { channel.close(promise: nil) }
        }.get()
    }

    func close() async throws {
        try await cut()
        try await listener.close()
    }

    private final class Pipe: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let peer: any Channel
        init(to peer: any Channel) { self.peer = peer }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            peer.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }
        func channelInactive(context: ChannelHandlerContext) { peer.close(promise: nil) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
