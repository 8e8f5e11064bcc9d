import NIOCore
import NIOPosix

@testable import GatewayServer

/// Opens connections that are served by outlets on one event loop, with a client each, for the time of `body`.
func withOutlets(
    _ count: Int, isPlain: Bool = true, bound: Int = 64 << 20, budget: Budget? = nil,
    _ body: ([Accepted], any EventLoop, [Peer]) async throws -> Void
) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    var (outlets, servers, peers): ([Accepted], [any Channel], [Peer]) = ([], [], [])
    for _ in 0..<count {
        let accepted = loop.makePromise(of: Accepted.self)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let owner = OutletOwner()
                    let outlet = FrameOutlet(isPlain: isPlain, bound: bound, budget: budget?.budget)
                    outlet.owner = owner
                    try channel.pipeline.syncOperations.addHandler(OutletHandler(outlet, owner))
                    accepted.succeed(Accepted(outlet: outlet, owner: owner, channel: channel))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        servers.append(server)
        peers.append(Peer(port: server.localAddress?.port ?? 0))
        let outlet = try await accepted.futureResult.get()
        // Waits until the connection is registered and the handler was added to an active channel.
        while try await !loop.submit({ outlet.channel.isActive }).get() {}
        outlets.append(outlet)
    }
    let result = await Result { () async throws in try await body(outlets, loop, peers) }
    for peer in peers { peer.close() }
    try result.get()
    for server in servers { try await server.close().get() }
    try await group.shutdownGracefully()
}

extension EventLoop {
    /// Runs a part of a test on the loop, within the test's task: so the test is named when an expectation fails there.
    func run<Value: Sendable>(_ part: @Sendable () throws -> Value) async rethrows -> Value {
        try await LoopTurn(self).run(part)
    }
}

private actor LoopTurn {
    nonisolated let unownedExecutor: UnownedSerialExecutor
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
        unownedExecutor = loop.executor.asUnownedSerialExecutor()
    }

    func run<Value: Sendable>(_ part: @Sendable () throws -> Value) rethrows -> Value { try part() }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// Forwards a connection's events to the outlet, as the connection's handler does.
private final class OutletHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let outlet: FrameOutlet
    /// Kept here, because the outlet does not keep it.
    private let owner: OutletOwner

    init(_ outlet: FrameOutlet, _ owner: OutletOwner) {
        self.outlet = outlet
        self.owner = owner
    }

    func handlerAdded(context: ChannelHandlerContext) { outlet.opened(context) }

    func channelInactive(context: ChannelHandlerContext) { outlet.ended() }
}

/// Passes the outlet's callbacks to a test.
final class OutletOwner: FrameOutletOwner {
    var onLaneClosed: () -> Void = {}
    var onPause: (Bool) -> Void = { _ in }
    var onFull: (OutputBudget.Bound) -> Void = { _ in }
    var onGathered: () -> Void = {}

    func laneClosed() { onLaneClosed() }

    func outputPaused(_ isPaused: Bool) { onPause(isPaused) }

    func outputFull(_ bound: OutputBudget.Bound) { onFull(bound) }

    func gatheredFrameIsDue() { onGathered() }
}

/// `@unchecked Sendable`: used only on the outlet's event loop.
final class Accepted: @unchecked Sendable {
    let outlet: FrameOutlet
    let owner: OutletOwner
    let channel: any Channel
    var pauses: [Bool] = []

    init(outlet: FrameOutlet, owner: OutletOwner, channel: any Channel) {
        self.outlet = outlet
        self.owner = owner
        self.channel = channel
    }
}

/// `@unchecked Sendable`: used only on one event loop.
final class Budget: @unchecked Sendable {
    let budget: OutputBudget

    init(_ budget: OutputBudget) { self.budget = budget }
}
