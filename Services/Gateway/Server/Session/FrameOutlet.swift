internal import GatewayLogic
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Writes finished WebSocket frames to one connection, past NIO where possible. It belongs to its shard's isolation.
///
/// A channel event is framed once and the same bytes go to every member; what is left to pay per member is the system
/// call. So while nothing waits in NIO's own queue, frames go to the plain socket at once; what the socket does not take,
/// and all that follows until that is gone, takes the way through NIO, which waits for the socket and keeps the order.
/// Measured in `Docs/decisions/0006-fan-out.md`.
final class FrameOutlet {
    /// How long a client may take to read the last frame.
    private static let closeTimeout = TimeAmount.seconds(5)

    private let isPlain: Bool
    private let budget: OutputBudget?
    private var context: ChannelHandlerContext?
    /// The connection, also while its last frame waits.
    private var channel: (any Channel)?
    /// The socket; nil where bytes must be encrypted first. NIO owns it and tells of its end by `channelInactive` before
    /// anything else can run on the loop, so that its number is never used for another.
    private var socket: NIOBSDSocket.Handle?
    /// Writes that NIO has not finished.
    private(set) var output: OutputBound
    /// Called when ``lane`` is no more.
    var onLaneClosed: () -> Void = {}
    /// Called when nothing more is to be read from the client, and when it is again.
    var onPause: (Bool) -> Void = { _ in }
    /// Called when too much waits: the connection must be closed.
    var onFull: (OutputBudget.Bound) -> Void = { _ in }

    /// - Parameters:
    ///   - isPlain: whether what is written here is what goes over the wire.
    ///   - bound: bytes that may wait for the client.
    ///   - budget: what waits for all clients together.
    init(isPlain: Bool, bound: Int, budget: OutputBudget? = nil) {
        self.isPlain = isPlain
        self.budget = budget
        output = OutputBound(bound: bound)
    }

    /// Bytes that may wait for the client.
    var bound: Int {
        get { output.bound }
        set { output.bound = newValue }
    }

    /// The socket, while frames may be written to it past everything else; see ``FrameLane``.
    var lane: NIOBSDSocket.Handle? { output.waiting == 0 ? socket : nil }

    /// The connection's handler was added: frames can be sent.
    func opened(_ context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
        guard isPlain else { return }
        socket = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
    }

    /// Nothing can be sent any more: frames are dropped. To be called first of all in `channelInactive`.
    func ended() {
        context = nil
        channel = nil
        closeLane()
    }

    private func closeLane() {
        guard socket != nil else { return }
        socket = nil
        onLaneClosed()
    }

    /// Counts a write until NIO has finished it.
    private func track(_ written: EventLoopPromise<Void>, _ bytes: Int, isAnswer: Bool) {
        if output.waiting == 0 { onLaneClosed() }
        output.queued(bytes, isAnswer: isAnswer)
        budget?.queued(OutputBound.cost(of: bytes), for: self)
        written.futureResult.assumeIsolated().whenComplete { _ in
            self.budget?.written(OutputBound.cost(of: bytes), for: self)
            if self.output.written(bytes) == .resume { self.onPause(false) }
        }
    }

    /// Decides about what still waits after the socket has taken what it could.
    private func judge() {
        switch output.judge() {
        case .pause: onPause(true)
        case .cutOff: full(.connection)
        case .none, .resume: break
        }
        budget?.judge()
    }

    /// More waits than may, for this client or for all together.
    func full(_ bound: OutputBudget.Bound) {
        guard context != nil else {
            // The last frame was sent already: only the socket remains to be closed.
            closeAtOnce()
            return
        }
        onFull(bound)
    }

    /// Closes the connection and forgets what waits, without the good-bye of TLS, which would wait for the client too.
    func closeAtOnce() {
        guard let channel else { return }
        if let tls = try? channel.pipeline.syncOperations.context(name: PublicListener.tlsHandler) {
            tls.close(mode: .all, promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    /// Sends the frames at once.
    /// - Parameter isAnswer: whether the client has asked for them.
    func send(_ frames: ByteBuffer, isAnswer: Bool = false) {
        let taken = takenAtOnce(of: frames)
        if taken < frames.readableBytes { sendRest(of: frames, after: taken, isAnswer: isAnswer) }
    }

    /// Sends a frame, then closes the connection; frames that follow are dropped (RFC 6455, section 5.5.1).
    func sendLast(_ frame: ByteBuffer) {
        guard let channel = context?.channel else { return }
        let taken = takenAtOnce(of: frame)
        let rest = taken < frame.readableBytes ? sendRest(of: frame, after: taken) : nil
        context = nil
        closeLane()
        guard let rest else { return channel.close(promise: nil) }
        rest.whenComplete { _ in channel.close(promise: nil) }
        // A client that does not read must not keep the socket.
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) { self.closeAtOnce() }
    }

    private func takenAtOnce(of frames: ByteBuffer) -> Int {
        guard let lane else { return 0 }
        return frames.withUnsafeReadableBytes { FrameLane.write($0, to: lane) }
    }

    /// Sends what the lane has not taken.
    /// - Returns: the end of the write; nil when the connection is no more.
    @discardableResult
    func sendRest(of frames: ByteBuffer, after taken: Int, isAnswer: Bool = false) -> EventLoopFuture<Void>? {
        guard let context else { return nil }
        var rest = frames
        rest.moveReaderIndex(forwardBy: taken)
        if rest.storageCapacity > 2 * rest.readableBytes + OutputBound.writeOverhead {
            // What waits must not keep the memory of what was written before.
            rest = context.channel.allocator.buffer(buffer: rest)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        let bytes = rest.readableBytes
        track(written, bytes, isAnswer: isAnswer)
        context.writeAndFlush(NIOAny(rest), promise: written)
        judge()
        return written.futureResult
    }
}

/// The short way to a client: its socket.
enum FrameLane {
    /// Writes what the socket takes at once.
    /// - Returns: bytes taken. An error other than "later" counts as none; it shows again, and is dealt with, on NIO's way.
    static func write(_ bytes: UnsafeRawBufferPointer, to lane: NIOBSDSocket.Handle) -> Int {
        #if canImport(Glibc)
            max(0, Glibc.send(lane, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL)))
        #else
            // The sockets of NIO are non-blocking and raise no SIGPIPE there.
            max(0, Darwin.send(lane, bytes.baseAddress, bytes.count, 0))
        #endif
    }
}
