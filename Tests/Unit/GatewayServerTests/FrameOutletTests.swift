import NIOCore
import NIOPosix
import Testing

@testable import GatewayServer

/// The two ways to a client's socket: nothing may overtake what waits on the other.
@Suite struct FrameOutletTests {
    /// More than the kernel takes for a connection at once.
    private static let large = 16 << 20

    @Test func nothingOvertakesWhatTheSocketDidNotTake() async throws {
        try await withOutlet { outlet, loop, client in
            try await loop.submit {
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                #expect(outlet.outlet.lane == nil)
                // The loop cannot write meanwhile, but the socket has room again.
                client.takeWhatIsThere()
                outlet.outlet.send(ByteBuffer(string: "after"))
            }.get()
            client.take(Self.large - client.taken)
            #expect(client.last == UInt8(ascii: "a"))
            client.take(5)
            #expect(client.text.suffix(5) == Array("after".utf8))
        }
    }

    @Test func theLaneOpensAgain() async throws {
        try await withOutlet { outlet, loop, client in
            let closed = try await loop.submit {
                var closed = 0
                outlet.outlet.onLaneClosed = { closed += 1 }
                #expect(outlet.outlet.lane != nil)
                outlet.outlet.send(ByteBuffer(string: "x"))
                #expect(closed == 0)
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                return closed
            }.get()
            #expect(closed == 1)
            client.take(Self.large + 1)
            var isOpen = false
            while !isOpen { isOpen = try await loop.submit { outlet.outlet.lane != nil }.get() }
        }
    }

    @Test func theLaneOfAClosedConnectionIsGoneAtOnce() async throws {
        try await withOutlet { outlet, loop, _ in
            try await loop.submit {
                var closed = 0
                outlet.outlet.onLaneClosed = { closed += 1 }
                outlet.channel.close(promise: nil)
                // No tick in between, in which another connection could get the socket's number.
                #expect(outlet.outlet.lane == nil)
                #expect(closed == 1)
                outlet.outlet.send(ByteBuffer(string: "nobody"))
            }.get()
        }
    }

    @Test func theLastFrameFollowsWhatWaits() async throws {
        try await withOutlet { outlet, loop, client in
            try await loop.submit {
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                outlet.outlet.sendLast(ByteBuffer(string: "last"))
                #expect(outlet.outlet.lane == nil)
                outlet.outlet.send(ByteBuffer(string: "too late"))
                #expect(outlet.channel.isActive)
            }.get()
            client.takeAll()
            #expect(client.taken == Self.large + 4)
            #expect(client.text.suffix(4) == Array("last".utf8))
        }
    }

    @Test func theConnectionClosesWithTheLastFrame() async throws {
        try await withOutlet { outlet, loop, client in
            try await loop.submit {
                outlet.outlet.sendLast(ByteBuffer(string: "last"))
                outlet.outlet.send(ByteBuffer(string: "too late"))
                #expect(!outlet.channel.isActive)
            }.get()
            client.takeAll()
            #expect(client.text == Array("last".utf8))
        }
    }

    @Test func encryptedConnectionsHaveNone() async throws {
        try await withOutlet(isPlain: false) { outlet, loop, client in
            try await loop.submit {
                #expect(outlet.outlet.lane == nil)
                outlet.outlet.send(ByteBuffer(string: "hello"))
            }.get()
            client.take(5)
            #expect(client.text == Array("hello".utf8))
        }
    }

    private func withOutlet(
        isPlain: Bool = true, _ body: (Accepted, any EventLoop, Peer) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let accepted = loop.makePromise(of: Accepted.self)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let outlet = FrameOutlet(isPlain: isPlain)
                    try channel.pipeline.syncOperations.addHandler(OutletHandler(outlet))
                    accepted.succeed(Accepted(outlet: outlet, channel: channel))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let peer = Peer(port: server.localAddress?.port ?? 0)
        let outlet = try await accepted.futureResult.get()
        // Until the connection is registered, and the handler added to an active channel.
        while try await !loop.submit({ outlet.channel.isActive }).get() {}
        do {
            try await body(outlet, loop, peer)
        } catch {
            peer.close()
            throw error
        }
        peer.close()
        try await server.close().get()
        try await group.shutdownGracefully()
    }
}

/// Tells the outlet what a connection's handler tells it.
private final class OutletHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let outlet: FrameOutlet

    init(_ outlet: FrameOutlet) { self.outlet = outlet }

    func handlerAdded(context: ChannelHandlerContext) { outlet.opened(context) }

    func channelInactive(context: ChannelHandlerContext) { outlet.ended() }
}

/// `@unchecked Sendable`: the outlet is used on its loop only.
private struct Accepted: @unchecked Sendable {
    let outlet: FrameOutlet
    let channel: any Channel
}
