/// The payload of one RFC 4733 packet: four bytes.
package struct DTMFPacket: Equatable, Sendable {
    /// The event's code; above 15 it is not a digit.
    package var event: UInt8
    /// The `E` bit: the event has ended.
    package var isEnd: Bool
    /// The power level as a positive number of -dBm0, 0 to 63.
    package var volume: UInt8
    /// The event's duration so far, in units of the timestamp.
    package var duration: UInt16

    /// The size of the payload in bytes.
    package static let byteCount = 4

    /// Creates a payload. The default volume, -10 dBm0, is usual among gateways.
    package init(event: UInt8, isEnd: Bool, volume: UInt8 = 10, duration: UInt16) {
        self.event = event
        self.isEnd = isEnd
        self.volume = volume & 0x3F
        self.duration = duration
    }

    /// Parses a payload; nil when it is shorter than four bytes.
    ///
    /// Only the first event of a payload is read. RFC 4733 allows more, but only events that follow each other without
    /// a gap, which digits never do; what senders append in practice is padding.
    package init?(_ bytes: some Collection<UInt8>) {
        var bytes = bytes.makeIterator()
        guard let event = bytes.next(), let flags = bytes.next(), let high = bytes.next(), let low = bytes.next() else {
            return nil
        }
        self.init(event: event, isEnd: flags & 0x80 != 0, volume: flags, duration: UInt16(high) << 8 | UInt16(low))
    }

    /// The payload's bytes.
    package var bytes: [UInt8] {
        [event, (isEnd ? 0x80 : 0) | volume, UInt8(duration >> 8), UInt8(truncatingIfNeeded: duration)]
    }
}

/// How digits are played, in units of the timestamp, of which 8 are 1 ms.
package struct DTMFTiming: Equatable, Sendable {
    /// The time between two packets: 20 ms.
    package static let frame: UInt32 = 160
    /// How long a digit sounds: 120 ms.
    package var tone: UInt32
    /// The silence after a digit: 100 ms. At least three frames, so that the three end packets are sent before the next
    /// digit.
    package var gap: UInt32
    /// The silence for one `,`: 0.5 s.
    package var pause: UInt32

    /// Creates a timing.
    package init(tone: UInt32 = 960, gap: UInt32 = 800, pause: UInt32 = 4000) {
        precondition(tone >= Self.frame && tone <= 0xFFFF && gap >= 3 * Self.frame)
        self.tone = tone
        self.gap = gap
        self.pause = pause
    }
}
