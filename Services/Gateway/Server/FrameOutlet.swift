internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Writes finished WebSocket frames past the frame encoder, and where it can past the pipeline.
///
/// A channel event is framed once and the same bytes go to every member; what is left to pay per member is the system
/// call. So while nothing waits in NIO's own queue, frames go to the plain socket at once; what the socket does not take,
/// and all that follows until that is gone, takes the way through NIO, which waits for the socket and keeps the order.
/// Measured in `Docs/decisions/0006-fan-out.md`.
final class FrameOutlet: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let isPlain: Bool
    private var context: ChannelHandlerContext?
    private var channel: (any Channel)?
    /// The socket; nil where bytes must be encrypted first. NIO owns it: it is used only while the channel is active.
    private var socket: NIOBSDSocket.Handle?
    /// Writes that NIO has not finished.
    private var waiting = 0

    /// - Parameter isPlain: whether what is written here is what goes over the wire.
    init(isPlain: Bool) { self.isPlain = isPlain }

    /// Whether the client takes what it is sent: false when more waits for it than ``GatewayConfiguration/sendBufferBound``.
    var isWritable: Bool { waiting == 0 || channel?.isWritable ?? true }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
        guard isPlain else { return }
        socket = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        channel = nil
        socket = nil
    }

    /// What the frame encoder writes: pongs and close frames.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        waiting += 1
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenComplete { _ in self.waiting -= 1 }
        context.write(data, promise: written)
    }

    /// Sends the frames at once.
    func send(_ frames: ByteBuffer) {
        guard let context else { return }
        var rest = frames
        if waiting == 0, let socket, channel?.isActive == true {
            let taken = Self.send(frames, to: socket)
            if taken == frames.readableBytes { return }
            // An error other than "later" shows again, and is dealt with, on NIO's way.
            rest.moveReaderIndex(forwardBy: max(0, taken))
        }
        waiting += 1
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in self.waiting -= 1 }
        context.writeAndFlush(wrapOutboundOut(rest), promise: written)
    }

    /// - Returns: how many bytes the socket took; -1 when none, for whatever reason.
    private static func send(_ bytes: ByteBuffer, to socket: NIOBSDSocket.Handle) -> Int {
        bytes.withUnsafeReadableBytes { bytes in
            #if canImport(Glibc)
                Glibc.send(socket, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL))
            #else
                // The sockets of NIO are non-blocking and raise no SIGPIPE there.
                Darwin.send(socket, bytes.baseAddress, bytes.count, 0)
            #endif
        }
    }
}

extension ByteBuffer {
    /// Appends one unmasked, final text frame. Source: RFC 6455, section 5.2.
    mutating func writeTextFrame(_ payload: [UInt8]) {
        writeInteger(UInt8(0x81))
        switch payload.count {
        case ..<126:
            writeInteger(UInt8(payload.count))
        case ..<65_536:
            writeInteger(UInt8(126))
            writeInteger(UInt16(payload.count))
        default:
            writeInteger(UInt8(127))
            writeInteger(UInt64(payload.count))
        }
        writeBytes(payload)
    }
}
