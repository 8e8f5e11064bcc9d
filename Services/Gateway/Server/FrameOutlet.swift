internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Writes finished WebSocket frames to one connection, where it can past NIO. Loop-bound.
///
/// A channel event is framed once and the same bytes go to every member; what is left to pay per member is the system
/// call. So while nothing waits in NIO's own queue, frames go to the plain socket at once; what the socket does not take,
/// and all that follows until that is gone, takes the way through NIO, which waits for the socket and keeps the order.
/// Measured in `Docs/decisions/0006-fan-out.md`.
final class FrameOutlet {
    /// How long a client may take to read the last frame.
    private static let closeTimeout = TimeAmount.seconds(5)

    private let isPlain: Bool
    private var context: ChannelHandlerContext?
    /// The socket; nil where bytes must be encrypted first. NIO owns it and tells of its end by `channelInactive` before
    /// anything else can run on the loop, so that its number is never used for another.
    private var socket: NIOBSDSocket.Handle?
    /// Writes that NIO has not finished.
    private var waiting = 0
    /// Called when ``lane`` is no more.
    var onLaneClosed: () -> Void = {}

    /// - Parameter isPlain: whether what is written here is what goes over the wire.
    init(isPlain: Bool) { self.isPlain = isPlain }

    /// Whether the client takes what it is sent: false when more waits for it than ``GatewayConfiguration/sendBufferBound``.
    var isWritable: Bool { waiting == 0 || context?.channel.isWritable ?? true }

    /// The socket, while frames may be written to it past everything else; see ``FrameLane``.
    var lane: NIOBSDSocket.Handle? { waiting == 0 ? socket : nil }

    /// The connection's handler was added: frames can be sent.
    func opened(_ context: ChannelHandlerContext) {
        self.context = context
        guard isPlain else { return }
        socket = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
    }

    /// Nothing can be sent any more: frames are dropped. To be called first of all in `channelInactive`.
    func ended() {
        context = nil
        guard socket != nil else { return }
        socket = nil
        onLaneClosed()
    }

    /// Counts a write until NIO has finished it.
    private func track(_ written: EventLoopPromise<Void>) {
        waiting += 1
        if waiting == 1 { onLaneClosed() }
        written.futureResult.assumeIsolated().whenComplete { _ in self.waiting -= 1 }
    }

    /// Sends the frames at once.
    func send(_ frames: ByteBuffer) {
        let taken = takenAtOnce(of: frames)
        if taken < frames.readableBytes { sendRest(of: frames, after: taken) }
    }

    /// Sends a frame, then closes the connection; frames that follow are dropped (RFC 6455, section 5.5.1).
    func sendLast(_ frame: ByteBuffer) {
        guard let channel = context?.channel else { return }
        let taken = takenAtOnce(of: frame)
        let rest = taken < frame.readableBytes ? sendRest(of: frame, after: taken) : nil
        ended()
        guard let rest else { return channel.close(promise: nil) }
        rest.whenComplete { _ in channel.close(promise: nil) }
        // A client that does not read must not keep the socket.
        channel.eventLoop.scheduleTask(in: Self.closeTimeout) { channel.close(promise: nil) }
    }

    private func takenAtOnce(of frames: ByteBuffer) -> Int {
        guard let lane else { return 0 }
        return frames.withUnsafeReadableBytes { FrameLane.write($0, to: lane) }
    }

    /// Sends what the lane has not taken.
    /// - Returns: the end of the write; nil when the connection is no more.
    @discardableResult
    func sendRest(of frames: ByteBuffer, after taken: Int) -> EventLoopFuture<Void>? {
        guard let context else { return nil }
        var rest = frames
        rest.moveReaderIndex(forwardBy: taken)
        let written = context.eventLoop.makePromise(of: Void.self)
        track(written)
        context.writeAndFlush(NIOAny(rest), promise: written)
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
