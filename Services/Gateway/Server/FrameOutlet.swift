internal import NIOCore
internal import NIOWebSocket

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
final class FrameOutlet: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

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

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        guard isPlain else { return }
        socket = try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable { $0 }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        closeSocket()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        closeSocket()
        context.fireChannelInactive()
    }

    private func closeSocket() {
        guard socket != nil else { return }
        socket = nil
        onLaneClosed()
    }

    /// What the frame encoder writes: pongs and close frames.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let written = promise ?? context.eventLoop.makePromise()
        track(written)
        context.write(data, promise: written)
    }

    /// Counts a write until NIO has finished it.
    private func track(_ written: EventLoopPromise<Void>) {
        waiting += 1
        if waiting == 1 { onLaneClosed() }
        written.futureResult.assumeIsolated().whenComplete { _ in self.waiting -= 1 }
    }

    /// Sends the frames at once.
    func send(_ frames: ByteBuffer) {
        var taken = 0
        if let lane {
            taken = frames.withUnsafeReadableBytes { FrameLane.write($0, to: lane) }
            if taken == frames.readableBytes { return }
        }
        sendRest(of: frames, after: taken)
    }

    /// Sends what the lane has not taken.
    func sendRest(of frames: ByteBuffer, after taken: Int) {
        guard let context else { return }
        var rest = frames
        rest.moveReaderIndex(forwardBy: taken)
        let written = context.eventLoop.makePromise(of: Void.self)
        track(written)
        context.writeAndFlush(wrapOutboundOut(rest), promise: written)
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

extension ByteBuffer {
    /// Appends what a client's frame says, eight bytes at a time (NIO goes byte by byte, and makes a buffer for it). Source:
    /// RFC 6455, section 5.3.
    mutating func writeUnmasked(_ frame: WebSocketFrame) {
        let first = readableBytes
        writeImmutableBuffer(frame.data)
        guard let key = frame.maskKey else { return }
        let mask = (0..<8).reduce(0 as UInt64) { $0 << 8 | UInt64(key[$1 & 3]) }.bigEndian
        withUnsafeMutableReadableBytes { bytes in
            var index = first
            while index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                bytes.storeBytes(of: word ^ mask, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            while index < bytes.count {
                bytes[index] ^= key[(index - first) & 3]
                index += 1
            }
        }
    }

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
