internal import NIOCore

/// Gathers the frames that arise together for many clients, such as the answers of one call to Redis, so that one
/// system call sends them. Isolated to its shard.
///
/// Nothing is gathered without a ring, because nothing would be saved. A frame waits for the other frames of the same
/// reply or publication only: all are sent before anything else happens on the event loop.
final class FrameGatherer {
    /// Frames, and bytes of frames, that are sent at once, though more are to come.
    private static let frameBound = 256
    private static let byteBound = 1 << 18

    /// A frame that has not been sent.
    private struct Gathered {
        let outlet: FrameOutlet
        /// Where it ends in `bytes`; it begins where the one before ends.
        let end: Int
        let isAnswer: Bool
    }

    let writer: LaneWriter
    private var isGathering = false
    private var gathered: [Gathered] = []
    private var bytes = ByteBuffer()

    init(_ writer: LaneWriter) { self.writer = writer }

    /// Gathers the frames that arise in `body`, and sends them.
    func gather(_ body: () -> Void) {
        guard !isGathering, writer.ring != nil else { return body() }
        isGathering = true
        body()
        isGathering = false
        flush()
    }

    /// Sends a frame, or takes it over to send it with others.
    func send(_ frame: ByteBuffer, to outlet: FrameOutlet, isAnswer: Bool) {
        guard isGathering, outlet.lane != nil else { return outlet.send(frame, isAnswer: isAnswer) }
        // Two frames of a socket must not be under way together.
        if outlet.isGathered || gathered.count == Self.frameBound || bytes.readableBytes >= Self.byteBound { flush() }
        guard outlet.lane != nil else { return outlet.send(frame, isAnswer: isAnswer) }
        outlet.isGathered = true
        bytes.writeImmutableBuffer(frame)
        gathered.append(Gathered(outlet: outlet, end: bytes.readableBytes, isAnswer: isAnswer))
    }

    /// Sends what has been gathered. Must be called before anything else is written to one of the clients.
    func flush() {
        guard !gathered.isEmpty else { return }
        var (frames, sent): ([Gathered], ByteBuffer) = ([], ByteBuffer())
        swap(&frames, &gathered)
        swap(&sent, &bytes)
        // A connection that has ended meanwhile has no lane.
        let lanes = frames.map { $0.outlet.lane ?? LaneWriter.closed }
        for frame in frames { frame.outlet.isGathered = false }
        let taken = sent.withUnsafeReadableBytes { writer.write($0, ends: frames.map(\.end), to: lanes) }
        var begin = 0
        for (slot, frame) in frames.enumerated() {
            let size = frame.end - begin
            if taken[slot] == LaneWriter.unknown {
                frame.outlet.closeAtOnce()
            } else if taken[slot] < size, let rest = sent.getSlice(at: begin, length: size) {
                frame.outlet.sendRest(of: rest, after: Int(taken[slot]), isAnswer: frame.isAnswer)
            }
            begin = frame.end
        }
        keep(&frames, &sent)
    }

    /// Uses memory again, but not that of large frames.
    private func keep(_ frames: inout [Gathered], _ sent: inout ByteBuffer) {
        guard gathered.isEmpty, sent.capacity <= Self.byteBound else { return }
        frames.removeAll(keepingCapacity: true)
        sent.clear()
        swap(&frames, &gathered)
        swap(&sent, &bytes)
    }
}
