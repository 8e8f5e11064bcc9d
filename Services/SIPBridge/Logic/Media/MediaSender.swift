package import Pacing

/// Decides what a call's RTP stream sends in each 20 ms frame: silence or digits.
///
/// RTP timestamps follow the clock: they advance also during digits, over frames that were skipped because the loop was
/// late, and during a hold (RFC 4733, 2.5.1). Sequence numbers, which count packets, are assigned by the socket.
package struct MediaSender: ~Copyable {
    /// One packet.
    package struct Packet: Equatable, Sendable {
        /// The packet's content.
        package var content: Content
        /// The marker bit.
        package var marker = false
        /// The RTP time stamp.
        package var timestamp: UInt32
    }

    /// The content of a packet.
    package enum Content: Equatable, Sendable {
        /// 20 ms of silence, encoded.
        case silence
        /// A packet of a digit.
        case event(DTMFPacket)
    }

    /// What to do now.
    package struct Output: Equatable, Sendable {
        /// The packets to send, in order.
        package var packets: [Packet] = []
        /// The texts of digits that were played completely.
        package var finished: [DTMFSender.ID] = []
        /// The texts of digits that were not played to their end.
        package var unfinished: [DTMFSender.ID] = []
    }

    /// The length of a frame.
    package static let frame = Duration.milliseconds(20)
    /// The largest number of frames sent together when the loop was late; older ones are skipped.
    package static let maxCatchUp: Int64 = 5

    private let firstTimestamp: UInt32
    private let startedAt: LocalTime
    /// The frame that is due next.
    private var nextFrame: Int64 = 0
    private var digits: DTMFSender
    private var maySend: Bool

    /// Starts a stream.
    /// - Parameters:
    ///   - firstTimestamp: a random number (RFC 3550, section 5.1).
    ///   - maySend: false while the peer is on hold.
    package init(firstTimestamp: UInt32, now: LocalTime, maySend: Bool, timing: DTMFTiming = DTMFTiming()) {
        self.firstTimestamp = firstTimestamp
        startedAt = now
        self.maySend = maySend
        digits = DTMFSender(timing: timing)
    }

    /// Whether no digit is being played or waits.
    package var isIdle: Bool { digits.isIdle }

    /// Queues digits; they wait while the peer is on hold.
    /// - Throws: ``DTMFError/full(bound:)``.
    package mutating func enqueue(_ text: DTMFDigits, id: DTMFSender.ID) throws(DTMFError) {
        try digits.enqueue(text, id: id)
    }

    /// Called for each tick of the clock.
    package mutating func tick(now: LocalTime) -> Output {
        var output = Output()
        let lastFrame = now.steps(of: Self.frame, since: startedAt)
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

    /// Called before the negotiated parameters change; the returned packets must be sent with the previous ones.
    ///
    /// If nothing may be sent any more, the digit being played is ended.
    /// - Parameter takesDigits: whether the peer still supports digits; if not, waiting ones are dropped too.
    package mutating func change(maySend: Bool, takesDigits: Bool) -> Output {
        self.maySend = maySend
        if !takesDigits { return abandonDigits() }
        return maySend ? Output() : output(of: digits.pause())
    }

    /// Called when the call has ended: ends the digit being played, drops those that wait.
    package mutating func abandonDigits() -> Output { output(of: digits.stop()) }

    private func output(of interruption: DTMFSender.Interruption) -> Output {
        Output(
            packets: interruption.packets.map { Packet(content: .event($0), timestamp: interruption.timestamp) },
            finished: interruption.finished, unfinished: interruption.unfinished)
    }
}
