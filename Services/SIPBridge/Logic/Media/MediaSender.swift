/// Decides what the RTP stream of a call sends in each 20 ms frame: silence or digits.
///
/// RTP time stamps follow the clock, so they advance during digits, over frames that were skipped because the loop was late,
/// and during a hold (RFC 4733, 2.5.1). Sequence numbers, which count packets, are given by the socket.
package struct MediaSender: ~Copyable {
    /// One packet.
    package struct Packet: Equatable, Sendable {
        /// What is in it.
        package var content: Content
        /// The marker bit.
        package var marker = false
        /// The RTP time stamp.
        package var timestamp: UInt32
    }

    /// What is in a packet.
    package enum Content: Equatable, Sendable {
        /// 20 ms of silence in the codec.
        case silence
        /// A packet of a digit.
        case event(DTMFPacket)
    }

    /// What to do now.
    package struct Output: Equatable, Sendable {
        /// What to send, in order.
        package var packets: [Packet] = []
        /// The texts of digits that were played.
        package var finished: [DTMFSender.ID] = []
        /// The texts of digits that were not played to their end.
        package var unfinished: [DTMFSender.ID] = []
    }

    /// Length of a frame, ms.
    package static let frameMilliseconds: Int64 = 20
    /// Frames that are sent at once at most when the loop was late; older ones are skipped, as real time is gone.
    package static let maxCatchUp: Int64 = 5

    private let firstTimestamp: UInt32
    private let startedAt: Int64
    /// The frame that is due next.
    private var nextFrame: Int64 = 0
    private var digits: DTMFSender
    private var maySend: Bool

    /// Starts a stream.
    /// - Parameters:
    ///   - firstTimestamp: a random number, RFC 3550 section 5.1.
    ///   - now: monotonic, ms.
    ///   - maySend: false while the peer is on hold.
    package init(firstTimestamp: UInt32, now: Int64, maySend: Bool, timing: DTMFTiming = DTMFTiming()) {
        self.firstTimestamp = firstTimestamp
        startedAt = now
        self.maySend = maySend
        digits = DTMFSender(timing: timing)
    }

    /// Whether no digit is played or waits.
    package var isIdle: Bool { digits.isIdle }

    /// Queues digits; they wait while the peer is on hold.
    /// - Throws: ``DTMFError/full(bound:)``.
    package mutating func enqueue(_ text: DTMFDigits, id: DTMFSender.ID) throws(DTMFError) {
        try digits.enqueue(text, id: id)
    }

    /// The clock ticked.
    /// - Parameter now: monotonic, ms.
    package mutating func tick(now: Int64) -> Output {
        var output = Output()
        let lastFrame = (now - startedAt) / Self.frameMilliseconds
        nextFrame = max(nextFrame, lastFrame - Self.maxCatchUp + 1)
        while nextFrame <= lastFrame {
            let timestamp = firstTimestamp &+ UInt32(truncatingIfNeeded: nextFrame * Int64(DTMFTiming.frame))
            nextFrame += 1
            guard maySend else { continue }
            let action = digits.frame(at: timestamp)
            output.finished += action.finished
            switch action.frame {
            case .audio:
                output.packets.append(Packet(content: .silence, timestamp: timestamp))
            case .event(let packet, let marker, let start):
                output.packets.append(Packet(content: .event(packet), marker: marker, timestamp: start))
            }
        }
        return output
    }

    /// The negotiation is about to change: what this returns still goes out as it was agreed on before.
    ///
    /// A digit that sounds is ended when nothing may be sent any more.
    /// - Parameter takesDigits: false drops the digits that wait, too.
    package mutating func change(maySend: Bool, takesDigits: Bool) -> Output {
        self.maySend = maySend
        if !takesDigits { return abandonDigits() }
        return maySend ? Output() : output(of: digits.pause())
    }

    /// The call is over: a digit that sounds is ended, those that wait are dropped.
    package mutating func abandonDigits() -> Output { output(of: digits.stop()) }

    private func output(of interruption: DTMFSender.Interruption) -> Output {
        Output(
            packets: interruption.packets.map { Packet(content: .event($0), timestamp: interruption.timestamp) },
            finished: interruption.finished, unfinished: interruption.unfinished)
    }
}
