/// Turns packets of telephone-event into one digit per key press, even if some are lost, repeated or reordered.
///
/// A press is identified by SSRC, timestamp and event. The latest presses are remembered, because late packets arrive
/// during the next digit. The marker, the end bit and sequence numbers are not used, because many senders set them
/// wrongly.
package struct DTMFReceiver {
    /// The number of remembered presses.
    package static let maxRemembered = 64
    /// How much of a long press may be lost before its next segment, in units of the timestamp: 1 s.
    fileprivate static let maxLostUnits: UInt32 = 8000
    /// The shortest duration of a segment that is continued: senders stop at 0xFFFF, or at their last whole packet
    /// before it.
    fileprivate static let minSegment: UInt32 = 0xF000

    /// One press of a key, or a segment of a long one.
    fileprivate struct KeyPress {
        var source: UInt32
        var timestamp: UInt32
        var event: UInt8
        var duration: UInt16
        var hasEnded: Bool
    }

    /// Oldest first.
    private var presses: [KeyPress] = []

    /// Creates a receiver.
    package init() { presses.reserveCapacity(Self.maxRemembered) }

    /// Takes a packet with the payload type of telephone-event.
    /// - Parameters:
    ///   - source: the packet's SSRC.
    ///   - timestamp: the packet's timestamp.
    /// - Returns: the digit, for the first packet that arrives of a press; else nil.
    package mutating func receive(_ packet: DTMFPacket, source: UInt32, timestamp: UInt32) -> DTMFEvent? {
        guard let event = DTMFEvent(code: packet.event) else { return nil }
        // Most packets belong to the latest press.
        let known = presses.lastIndex {
            $0.source == source && $0.timestamp == timestamp && $0.event == packet.event
        }
        if let known {
            presses[known].duration = max(presses[known].duration, packet.duration)
            presses[known].hasEnded = presses[known].hasEnded || packet.isEnd
            return nil
        }
        let continues = presses.contains { $0.continues(at: timestamp, source: source, event: packet.event) }
        if presses.count == Self.maxRemembered { presses.removeFirst() }
        presses.append(
            KeyPress(
                source: source, timestamp: timestamp, event: packet.event, duration: packet.duration,
                hasEnded: packet.isEnd))
        return continues ? nil : event
    }
}

extension DTMFReceiver.KeyPress {
    /// Whether a packet with this new timestamp is the next segment of the same press (RFC 4733, section 2.5.1.3). The
    /// duration has 16 bits, so a press longer than 8.19 s continues with a new timestamp where the segment ended.
    fileprivate func continues(at next: UInt32, source: UInt32, event: UInt8) -> Bool {
        guard self.source == source, self.event == event, !hasEnded else { return false }
        let length = next &- timestamp
        return length >= DTMFReceiver.minSegment && length <= 0x1_0000
            && UInt32(duration) + DTMFReceiver.maxLostUnits >= length
    }
}
