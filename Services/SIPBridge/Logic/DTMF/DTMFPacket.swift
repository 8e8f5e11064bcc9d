/// The payload of one RFC 4733 packet: four bytes.
package struct DTMFPacket: Equatable, Sendable {
    /// The event's code; above 15 it is no digit.
    package var event: UInt8
    /// The `E` bit: the event is over.
    package var isEnd: Bool
    /// Power level as a positive number of -dBm0, 0 to 63.
    package var volume: UInt8
    /// How long the event lasts so far, in units of the time stamp.
    package var duration: UInt16

    /// Bytes of the payload.
    package static let byteCount = 4

    /// Makes a payload; -10 dBm0 is what gateways are used to.
    package init(event: UInt8, isEnd: Bool, volume: UInt8 = 10, duration: UInt16) {
        self.event = event
        self.isEnd = isEnd
        self.volume = volume & 0x3F
        self.duration = duration
    }

    /// Reads a payload; nil when it is shorter than four bytes.
    ///
    /// Only the first event of a payload is read. RFC 4733 allows more, but only such as follow each other without a gap,
    /// which digits never do; what senders append in practice is filling.
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

/// How digits are played; all in units of the time stamp, of which 8 are 1 ms.
package struct DTMFTiming: Equatable, Sendable {
    /// Units between two packets: 20 ms.
    package static let frame: UInt32 = 160
    /// How long a digit sounds; 120 ms.
    package var tone: UInt32
    /// Silence after a digit; 100 ms. At least three frames, so that the three end packets are out before the next digit.
    package var gap: UInt32
    /// Silence for one `,`; 0.5 s.
    package var pause: UInt32

    /// Makes a timing.
    package init(tone: UInt32 = 960, gap: UInt32 = 800, pause: UInt32 = 4000) {
        precondition(tone >= Self.frame && tone <= 0xFFFF && gap >= 3 * Self.frame)
        self.tone = tone
        self.gap = gap
        self.pause = pause
    }
}
