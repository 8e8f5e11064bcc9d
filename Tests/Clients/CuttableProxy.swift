import NIOCore
import NIOPosix
import SignalingClient
import Synchronization

/// Forwards TCP connections to a gateway, and cuts them when a test says so.
actor CuttableProxy {
    let endpoint: GatewayEndpoint
    private let listener: any Channel
    private let accepted: Accepted

    /// The open connections, and whether more are accepted.
    private final class Accepted: Sendable {
        private struct State {
            var channels: [ObjectIdentifier: any Channel] = [:]
            var isOpen = true
        }

        private let state = Mutex(State())

        var channels: [any Channel] { state.withLock { Array($0.channels.values) } }

        func setOpen(_ open: Bool) { state.withLock { $0.isOpen = open } }

        /// Records a new connection until it is closed.
        /// - Returns: false when none are accepted.
        func add(_ channel: any Channel) -> Bool {
            let isAdded = state.withLock { state in
                if state.isOpen { state.channels[ObjectIdentifier(channel)] = channel }
                return state.isOpen
            }
            if isAdded { channel.closeFuture.whenComplete { _ in self.remove(channel) } }
            return isAdded
        }

        private func remove(_ channel: any Channel) {
            state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
        }
    }

    init(to target: GatewayEndpoint) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let accepted = Accepted()
        listener = try await ServerBootstrap(group: loop, childGroup: loop)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                guard accepted.add(client) else { return client.close() }
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
        accepted.setOpen(open)
        if !open { try await cut() }
    }

    /// Cuts every connection; new ones are forwarded.
    func cut() async throws {
        try await listener.eventLoop.submit { [accepted] in
            for channel in accepted.channels { channel.close(promise: nil) }
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
