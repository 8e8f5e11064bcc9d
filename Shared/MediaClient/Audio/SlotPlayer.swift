internal import MediaEngineLogic

/// Plays one slot: what came on it, in its turn, at the pace of the playback device.
struct SlotPlayer {
    private static let frame = Int(AudioPacket.samples)

    private var buffer = JitterBuffer()
    private let decoder: OpusDecoder
    private var drift = ClockDrift()
    private var stretcher = FrameStretcher()
    /// Samples that are decoded and not played yet: frames are stretched, and the device's are not.
    private var pending: [Int16] = []
    /// Frames that the buffer had added, less those it had left out, when the stream began.
    private var addedBefore = 0
    /// Who is heard; nil when nobody is.
    private(set) var speaker: UInt32?
    /// How much later the frame after those handed out will be played than the fastest packets could be: what is aimed
    /// at is less where nothing silent can be left out.
    private(set) var delay = MediaInterval.zero

    /// - Throws: ``MediaError/codecFailed``.
    init() throws(MediaError) { decoder = try OpusDecoder() }

    /// What happened to packets and frames so far.
    var counts: JitterBuffer.Counts { buffer.counts }

    mutating func put(_ packet: AudioPacket, arrival: MediaInstant) { buffer.put(packet, arrival: arrival) }

    /// The next 960 samples; nil when nobody is heard.
    mutating func play(now: MediaInstant) -> [Int16]? {
        while pending.count < Self.frame {
            guard let decoded = nextFrame(now: now) else {
                pending = []
                speaker = nil
                return nil
            }
            let length = drift.play(
                delay: waiting(now: now), addedFrames: Self.added(buffer.counts) - addedBefore)
            let stretched = stretcher.stretch(decoded, to: length.samples)
            // Nearly always: nothing is to be copied.
            if pending.isEmpty, stretched.count == Self.frame {
                note(decoded: Self.frame, now: now)
                return stretched
            }
            pending += stretched
        }
        note(decoded: pending.count, now: now)
        defer { pending.removeFirst(Self.frame) }
        return Array(pending[..<Self.frame])
    }

    /// Notes how long what is played now has waited: in the buffer, which a clock that stands still makes negative, and
    /// decoded.
    private mutating func note(decoded: Int, now: MediaInstant) {
        delay = max(buffer.delay(at: now) ?? .zero, .zero) + .samples(Int64(decoded))
    }

    /// The delay of what is played next, in samples.
    private func waiting(now: MediaInstant) -> Double {
        (buffer.delay(at: now) ?? .zero).seconds * 48_000 + Double(pending.count)
    }

    private mutating func nextFrame(now: MediaInstant) -> [Int16]? {
        guard let samples = decode(buffer.play(now: now)) else { return nil }
        // A quiet frame is left out when there is more delay than is needed: nobody hears that.
        guard buffer.hasSurplus(at: now), AudioLevel.value(of: samples) > AudioLevel.quietestVoice else {
            return samples
        }
        return decode(buffer.play(now: now)) ?? samples
    }

    private mutating func decode(_ frame: PlayoutFrame) -> [Int16]? {
        switch frame {
        case .nothing: return nil
        case .packet(let packet, let isFirst):
            if isFirst { begin() }
            speaker = packet.speaker
            return decoder.decode(packet.payload)
        case .recover(let next): return decoder.recover(from: next.payload)
        case .conceal: return decoder.conceal()
        case .fade: return Self.faded(decoder.conceal())
        case .silence: return [Int16](repeating: 0, count: Self.frame)
        }
    }

    private mutating func begin() {
        decoder.reset()
        drift.reset()
        stretcher = FrameStretcher()
        pending = []
        addedBefore = Self.added(buffer.counts)
    }

    private static func added(_ counts: JitterBuffer.Counts) -> Int {
        counts.lengthened - counts.shortened - counts.hurried
    }

    private static func faded(_ samples: [Int16]) -> [Int16] {
        samples.enumerated().map { Int16(Int($1) * (samples.count - $0) / samples.count) }
    }
}
