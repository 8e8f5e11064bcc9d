/// Decides for each 20 ms frame of a call whether to send audio or a packet of the digit being played.
///
/// Time is given by the frame's RTP timestamp, which advances by 160 per frame whatever is sent. All packets of an
/// event have the timestamp of its first frame. Every packet, including repetitions, has its own sequence number (RFC
/// 4733, 2.5.1).
package struct DTMFSender: ~Copyable {
    /// Identifies a text of digits for its sender.
    package typealias ID = Int

    /// What to send in a frame.
    package enum Frame: Equatable, Sendable {
        /// A frame of audio.
        case audio
        /// A packet of an event, in place of audio.
        case event(DTMFPacket, marker: Bool, timestamp: UInt32)
    }

    /// What to do in one frame.
    package struct Action: Equatable, Sendable {
        /// What to send.
        package var frame: Frame
        /// The texts whose last step has ended.
        package var finished: [ID] = []
    }

    /// What to do when playing stops before the end.
    package struct Interruption: Equatable, Sendable {
        /// End packets of the digit that was cut off, to be sent at once.
        package var packets: [DTMFPacket] = []
        /// The timestamp of the packets.
        package var timestamp: UInt32 = 0
        /// The texts whose last digit was sent.
        package var finished: [ID] = []
        /// The texts that were not played to their end.
        package var unfinished: [ID] = []
    }

    /// The largest number of waiting steps.
    package static let maxQueued = 256
    /// How often the end of an event is sent.
    package static let endCopies = 3

    private struct Entry {
        var step: DTMFDigits.Step
        /// The text whose last step this is; nil for other steps.
        var closes: ID?
    }

    fileprivate struct Tone {
        var event: DTMFEvent
        var start: UInt32
        var duration: UInt16
        var closes: ID?
    }

    private enum State {
        /// To `tone` or `silence` when a step is queued.
        case idle
        /// To `ending` when the tone has its full length.
        case tone(Tone)
        /// Sending copies of the end packet; to `silence` after the last.
        case ending(Tone, copiesLeft: Int)
        /// A gap or a pause; to `idle`, `tone` or `silence` at its end.
        case silence(until: UInt32, closes: ID?)
    }

    private let timing: DTMFTiming
    private var state = State.idle
    private var queue: [Entry] = []

    /// Creates a sender with nothing to play.
    package init(timing: DTMFTiming = DTMFTiming()) { self.timing = timing }

    /// Whether nothing is being played and nothing waits.
    package var isIdle: Bool {
        guard case .idle = state else { return false }
        return queue.isEmpty
    }

    /// Queues a text behind those that wait.
    /// - Throws: ``DTMFError/full(bound:)``; then nothing of the text is queued.
    package mutating func enqueue(_ digits: DTMFDigits, id: ID) throws(DTMFError) {
        guard queue.count + digits.steps.count <= Self.maxQueued else { throw .full(bound: Self.maxQueued) }
        for (index, step) in digits.steps.enumerated() {
            queue.append(Entry(step: step, closes: index == digits.steps.count - 1 ? id : nil))
        }
    }

    /// What to do in the next frame.
    /// - Parameter timestamp: the frame's timestamp; it may have jumped when frames were skipped.
    package mutating func frame(at timestamp: UInt32) -> Action {
        switch state {
        case .idle:
            return startNext(at: timestamp, finished: [])
        case .tone(var tone):
            let elapsed = min(timestamp &- tone.start &+ DTMFTiming.frame, 0xFFFF)
            tone.duration = UInt16(elapsed)
            return Action(frame: send(tone, marker: false))
        case .ending(let tone, let copiesLeft):
            let end = tone.packet(isEnd: true)
            if copiesLeft > 1 {
                state = .ending(tone, copiesLeft: copiesLeft - 1)
            } else {
                state = .silence(until: tone.end &+ timing.gap, closes: tone.closes)
            }
            return Action(frame: .event(end, marker: false, timestamp: tone.start))
        case .silence(let until, let closes):
            // The difference is taken as signed, because timestamps wrap around.
            guard Int32(bitPattern: timestamp &- until) >= 0 else { return Action(frame: .audio) }
            state = .idle
            return startNext(at: timestamp, finished: closes.map { [$0] } ?? [])
        }
    }

    /// Called when the peer is put on hold, so that nothing may be sent: ends the digit being played, keeps those that
    /// wait.
    package mutating func pause() -> Interruption {
        switch state {
        case .idle, .silence:
            return Interruption()
        case .tone(let tone):
            state = .silence(until: tone.end &+ timing.gap, closes: tone.closes)
            return Interruption(
                packets: Array(repeating: tone.packet(isEnd: true), count: Self.endCopies), timestamp: tone.start)
        case .ending(let tone, let copiesLeft):
            state = .silence(until: tone.end &+ timing.gap, closes: tone.closes)
            return Interruption(
                packets: Array(repeating: tone.packet(isEnd: true), count: copiesLeft), timestamp: tone.start)
        }
    }

    /// Called when the call has ended: ends the digit being played, drops those that wait.
    package mutating func stop() -> Interruption {
        let isCutShort = if case .tone = state { true } else { false }
        var interruption = pause()
        if case .silence(_, let closes?) = state {
            if isCutShort { interruption.unfinished.append(closes) } else { interruption.finished.append(closes) }
        }
        interruption.unfinished += queue.compactMap(\.closes)
        state = .idle
        queue = []
        return interruption
    }

    private mutating func startNext(at timestamp: UInt32, finished: [ID]) -> Action {
        guard !queue.isEmpty else { return Action(frame: .audio, finished: finished) }
        let entry = queue.removeFirst()
        switch entry.step {
        case .pause:
            state = .silence(until: timestamp &+ timing.pause, closes: entry.closes)
            return Action(frame: .audio, finished: finished)
        case .digit(let event):
            // The frame ends 20 ms after its timestamp, so the duration is never 0.
            let tone = Tone(
                event: event, start: timestamp, duration: UInt16(DTMFTiming.frame), closes: entry.closes)
            return Action(frame: send(tone, marker: true), finished: finished)
        }
    }

    /// Sends the tone's next packet, or the first of its end packets when it has its full length.
    private mutating func send(_ tone: Tone, marker: Bool) -> Frame {
        let isEnd = UInt32(tone.duration) >= timing.tone
        state = isEnd ? .ending(tone, copiesLeft: Self.endCopies - 1) : .tone(tone)
        return .event(tone.packet(isEnd: isEnd), marker: marker, timestamp: tone.start)
    }
}

extension DTMFSender.Tone {
    fileprivate var end: UInt32 { start &+ UInt32(duration) }

    fileprivate func packet(isEnd: Bool) -> DTMFPacket {
        DTMFPacket(event: event.code, isEnd: isEnd, duration: duration)
    }
}
