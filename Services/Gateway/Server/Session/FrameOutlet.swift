internal import GatewayLogic
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The connection that a ``FrameOutlet`` writes for; called on the shard's event loop.
protocol FrameOutletOwner: AnyObject {
    /// Called when the outlet's ``FrameOutlet/lane`` becomes nil.
    func laneClosed()
    /// Called when reading from the client must stop (true) or may continue (false).
    func outputPaused(_ isPaused: Bool)
    /// Called when too much output waits: the connection must be closed.
    func outputFull(_ bound: OutputBudget.Bound)
    /// Called when the gathered frame of this outlet must be sent: another is to follow it.
    func gatheredFrameIsDue()
}

/// Writes finished WebSocket frames to one connection, bypassing NIO where possible. Isolated to its shard.
///
/// A channel event is encoded once, and the same bytes are sent to every member, so the remaining cost per member is
/// the system call. Therefore, while nothing waits in NIO's queue, frames are written directly to a plain socket. What
/// the socket does not accept, and everything after that until it is written, goes through NIO, which waits for the
/// socket and keeps the order. Measured in `Docs/decisions/0006-fan-out.md`.
final class FrameOutlet {
    /// How long a client may take to read the last frame.
    private static let closeTimeout = Duration.seconds(5)

    // In an order that leaves no gaps, because every connection has an outlet.
    private let budget: OutputBudget?
    private var context: ChannelHandlerContext?
    /// The connection; kept while its last frame waits.
    private var channel: (any Channel)?
    /// The connection, if it wants to know of the output's state. One reference instead of three closures, because each
    /// closure would need memory of its own in every connection.
    unowned var owner: (any FrameOutletOwner)?
    /// The output that NIO has not written yet.
    private(set) var output: OutputBound
    private let isPlain: Bool
    /// Whether a ``FrameGatherer`` has a frame of this outlet that is not sent yet.
    var isGathered = false
    /// The socket; ``LaneWriter/closed`` where bytes must be encrypted first. NIO owns it and reports its end by
    /// `channelInactive` before anything else runs on the loop, so its number is never that of another connection.
    private var socket = LaneWriter.closed

    /// - Parameters:
    ///   - isPlain: whether the bytes written here are sent as they are, without TLS.
    ///   - bound: the number of bytes that may wait for the client.
    ///   - budget: the output that waits for all clients together.
    init(isPlain: Bool, bound: Int, budget: OutputBudget? = nil) {
        self.isPlain = isPlain
        self.budget = budget
        output = OutputBound(bound: bound)
    }

    /// The number of bytes that may wait for the client.
    var bound: Int {
        get { output.bound }
        set { output.bound = newValue }
    }

    /// The socket, while frames may be written directly to it; see ``FrameLane``.
    var lane: NIOBSDSocket.Handle? { output.waiting == 0 && socket != LaneWriter.closed ? socket : nil }

    /// Called when the connection's handler was added: frames can be sent now.
    func opened(_ context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
        guard isPlain else { return }
        let transport: NIOBSDSocket.Handle? = try? context.channel.pipeline.syncOperations
            .withUnsafeTransportIfAvailable { $0 }
        socket = transport ?? LaneWriter.closed
    }

    /// Called first of all in `channelInactive`: nothing can be sent any more, and frames are dropped.
    func ended() {
        context = nil
        channel = nil
        closeLane()
    }

    private func closeLane() {
        guard socket != LaneWriter.closed else { return }
        socket = LaneWriter.closed
        owner?.laneClosed()
    }

    /// Counts a write as waiting until NIO has finished it.
    private func track(_ written: EventLoopPromise<Void>, _ bytes: Int, isAnswer: Bool) {
        if output.waiting == 0 { owner?.laneClosed() }
        output.queued(bytes, isAnswer: isAnswer)
        budget?.queued(OutputBound.cost(of: bytes), for: self)
        written.futureResult.assumeIsolated().whenComplete { _ in
            self.budget?.written(OutputBound.cost(of: bytes), for: self)
            if self.output.written(bytes) == .resume { self.owner?.outputPaused(false) }
        }
    }

    /// Judges the output that still waits after the socket has taken what it could.
    private func enforceBounds() {
        switch output.enforce() {
        case .pause: owner?.outputPaused(true)
        case .cutOff: full(.connection)
        case .none, .resume: break
        }
        budget?.enforce()
    }

    /// Handles that too much output waits, for this client or for all together.
    func full(_ bound: OutputBudget.Bound) {
        guard context != nil else {
            // The last frame has been sent already; only the socket must be closed.
            closeAtOnce()
            return
        }
        owner?.outputFull(bound)
    }

    /// Closes the connection and drops waiting output.
    func closeAtOnce() {
        guard let channel else { return }
        channel.closeAtOnce()
    }

    /// Sends frames.
    /// - Parameter isAnswer: whether the client has requested them.
    func send(_ frames: ByteBuffer, isAnswer: Bool = false) {
        if isGathered { owner?.gatheredFrameIsDue() }
        let taken = takenAtOnce(of: frames)
        if taken < frames.readableBytes { sendRest(of: frames, after: taken, isAnswer: isAnswer) }
    }

    /// Sends a frame, then closes the connection; later frames are dropped (RFC 6455, section 5.5.1).
    func sendLast(_ frame: ByteBuffer) {
        if isGathered { owner?.gatheredFrameIsDue() }
        guard let channel = context?.channel else { return }
        let taken = takenAtOnce(of: frame)
        let rest = taken < frame.readableBytes ? sendRest(of: frame, after: taken) : nil
        context = nil
        closeLane()
        guard let rest else { return channel.close(promise: nil) }
        rest.whenComplete { _ in channel.close(promise: nil) }
        // A client that does not read must not keep the socket open.
        channel.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Self.closeTimeout)) { self.closeAtOnce() }
    }

    private func takenAtOnce(of frames: ByteBuffer) -> Int {
        guard let lane else { return 0 }
        return frames.withUnsafeReadableBytes { FrameLane.write($0, to: lane) }
    }

    /// Sends through NIO what the lane did not accept.
    /// - Returns: the completion of the write; nil when the connection does not exist any more.
    @discardableResult
    func sendRest(of frames: ByteBuffer, after taken: Int, isAnswer: Bool = false) -> EventLoopFuture<Void>? {
        guard let context else { return nil }
        var rest = frames
        rest.moveReaderIndex(forwardBy: taken)
        if rest.storageCapacity > 2 * rest.readableBytes + OutputBound.writeOverhead {
            // The waiting bytes must not keep the memory of those already written.
            rest = context.channel.allocator.buffer(buffer: rest)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        let bytes = rest.readableBytes
        track(written, bytes, isAnswer: isAnswer)
        context.writeAndFlush(NIOAny(rest), promise: written)
        enforceBounds()
        return written.futureResult
    }
}

/// Direct writes to a client's socket.
enum FrameLane {
    /// Writes as much as the socket accepts at once.
    /// - Returns: the number of bytes accepted. An error counts as none: it occurs again on the way through NIO, and is
    ///   handled there.
    static func write(_ bytes: UnsafeRawBufferPointer, to lane: NIOBSDSocket.Handle) -> Int {
        #if canImport(Glibc)
            max(0, Glibc.send(lane, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL)))
        #else
            // NIO's sockets are non-blocking and do not raise SIGPIPE on these systems.
            max(0, Darwin.send(lane, bytes.baseAddress, bytes.count, 0))
        #endif
    }
}
