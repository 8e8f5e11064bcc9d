/// The packets of one audio slot between their arrival and their playing.
///
/// Packets are played by their timestamps, each in its turn, `target` later than the fastest ones could be played: the
/// 95th percentile of the delay's variation over 2 s, 20...200 ms (section "Engine" of the media design). When a frame
/// is not there in its turn while the delay is below the target, a frame is concealed and the turn stays, which
/// lengthens the delay by 20 ms; else the frame counts as lost. A delay that is a frame above the target is shortened
/// by leaving out a silent frame.
///
/// A stream begins anew with another speaker, with the second packet in a row that continues from far elsewhere (RFC
/// 3550 A.1), and after 2 s without a packet.
package struct JitterBuffer: Sendable {
    /// The most packets that wait: 1 s. One more pushes out the oldest.
    package static let capacity = 50
    /// A frame whose delay is greater is left out even when it is not silent.
    package static let greatestDelay: MediaInterval = DelayEstimate.greatest + .milliseconds(40)
    /// The frames concealed in a row before fading: 100 ms.
    package static let greatestConcealment = 5
    /// The frames in a row without a packet after which the stream counts as ended: 2 s.
    static let greatestGap = 100
    /// A packet whose timestamp or sequence number is farther away than this belongs to another stream.
    static let greatestJump = (samples: Int64(2 * 48_000), packets: 100)

    /// What happened to packets and frames since the buffer was made.
    package struct Counts: Sendable, Hashable {
        /// Packets that were played.
        package var played = 0
        /// Frames that the packet after them could repair.
        package var recovered = 0
        /// Frames without any packet: concealed, faded or silent, those that lengthened the delay among them.
        package var concealed = 0
        /// Frames concealed to lengthen the delay.
        package var lengthened = 0
        /// Silent frames that were left out to shorten the delay.
        package var shortened = 0
        /// Frames left out because the delay was above its bound.
        package var hurried = 0
        /// Packets that came after their turn.
        package var late = 0
        /// Packets that came again.
        package var duplicates = 0
        /// Packets pushed out by newer ones.
        package var overflowed = 0
        /// Packets from far elsewhere that none followed.
        package var stray = 0
        /// Streams that began.
        package var streams = 0
    }

    private var stream: AudioStream?
    private var stray: AudioPacket?
    /// What happened so far.
    package private(set) var counts = Counts()

    /// Makes an empty buffer.
    package init() {}

    /// The delay that is aimed at; 20 ms before the first packet.
    package var target: MediaInterval { stream?.estimate.target ?? DelayEstimate.least }

    /// The packets that wait, at most `capacity`.
    package var count: Int { stream?.queue.count ?? 0 }

    /// Who speaks in the slot; nil before the first packet, and after the end of a stream.
    package var speaker: UInt32? { stream?.speaker }

    /// The delay of the frame that is due at that time, above that of the fastest packets; nil before the stream is
    /// played.
    package func delay(at now: MediaInstant) -> MediaInterval? {
        guard let stream, let due = stream.due else { return nil }
        return stream.delay(of: due, now: now)
    }

    /// Whether the delay at that time is at least a frame more than is aimed at.
    ///
    /// Only the decoder hears whether a frame of ordinary size is silent: when the frame just decoded is, and this is
    /// true, the caller forgets it and calls `play` again.
    package func hasSurplus(at now: MediaInstant) -> Bool {
        delay(at: now).map { $0 >= target + .samples(AudioPacket.samples) } ?? false
    }

    /// Takes a packet that came at that time.
    package mutating func put(_ packet: AudioPacket, arrival: MediaInstant) {
        guard var stream else { return begin(with: packet, arrival: arrival) }
        if stream.isFar(packet) {
            if let stray, packet.sequence == stray.sequence &+ 1, packet.speaker == stray.speaker {
                self.stray = nil
                return begin(with: packet, arrival: arrival)
            }
            if stray != nil { counts.stray += 1 }
            stray = packet
            return
        }
        if packet.speaker != stream.speaker {
            // What the former speaker's packets still wait for is given up: a slot changes hands when its holder is not
            // heard.
            if stream.isNewest(packet) { begin(with: packet, arrival: arrival) } else { counts.late += 1 }
            return
        }
        switch stream.put(packet, arrival: arrival) {
        case .taken: break
        case .takenForOldest: counts.overflowed += 1
        case .duplicate: counts.duplicates += 1
        case .late: counts.late += 1
        }
        self.stream = stream
    }

    /// What is to be played at that time; called every 20 ms of playing.
    package mutating func play(now: MediaInstant) -> PlayoutFrame {
        guard var stream else { return .nothing }
        let isFirst = stream.due == nil
        guard stream.start(now: now) else { return .nothing }
        leaveOut(of: &stream, now: now)
        let frame: PlayoutFrame
        switch stream.take(now: now) {
        case .packet(let packet):
            counts.played += 1
            frame = .packet(packet, isFirst: isFirst)
        case .lost(let next?):
            counts.recovered += 1
            frame = .recover(from: next)
        case .lost(nil):
            counts.concealed += 1
            frame = concealment(missing: stream.missing)
        case .awaited:
            counts.concealed += 1
            counts.lengthened += 1
            frame = concealment(missing: stream.missing)
        }
        self.stream = stream.missing >= Self.greatestGap && stream.queue.isEmpty ? nil : stream
        return frame
    }

    private mutating func leaveOut(of stream: inout AudioStream, now: MediaInstant) {
        while true {
            switch stream.leaveOut(now: now) {
            case .none: return
            case .silent:
                counts.shortened += 1
                return
            case .late: counts.hurried += 1
            }
        }
    }

    private func concealment(missing: Int) -> PlayoutFrame {
        if missing <= Self.greatestConcealment { return .conceal }
        return missing == Self.greatestConcealment + 1 ? .fade : .silence
    }

    private mutating func begin(with packet: AudioPacket, arrival: MediaInstant) {
        counts.streams += 1
        stray = nil
        stream = AudioStream(first: packet, arrival: arrival)
    }
}
