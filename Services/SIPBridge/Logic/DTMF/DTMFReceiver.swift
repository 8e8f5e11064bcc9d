/// Turns the packets of telephone-event into one digit per key press, whatever is lost, repeated or reordered on the way.
///
/// A press is identified by SSRC, time stamp and event. The latest are remembered, since late packets arrive during the next
/// digit. The marker, the end bit and sequence numbers are not used: many senders get them wrong.
package struct DTMFReceiver {
    /// Presses that are remembered.
    package static let maxRemembered = 64
    /// How much of a long press may be lost before its next segment, in units of the time stamp: 1 s.
    fileprivate static let maxLostUnits: UInt32 = 8000
    /// How long a segment lasts at least: senders stop at 0xFFFF, or at their last whole packet before it.
    fileprivate static let minSegment: UInt32 = 0xF000

    fileprivate struct Press {
        var source: UInt32
        var timestamp: UInt32
        var event: UInt8
        var duration: UInt16
        var hasEnded: Bool
    }

    /// Oldest first.
    private var presses: [Press] = []

    /// Makes a receiver that has heard nothing.
    package init() { presses.reserveCapacity(Self.maxRemembered) }

    /// A packet with the payload type of telephone-event came.
    /// - Parameters:
    ///   - source: the packet's SSRC.
    ///   - timestamp: the packet's time stamp.
    /// - Returns: the digit, with the first packet of a press that gets here; else nil.
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
            Press(
                source: source, timestamp: timestamp, event: packet.event, duration: packet.duration,
                hasEnded: packet.isEnd))
        return continues ? nil : event
    }
}

extension DTMFReceiver.Press {
    /// Whether a packet with this new time stamp is the next segment of the same press (RFC 4733 section 2.5.1.3): the
    /// duration has 16 bits, so a press longer than 8.19 s goes on under a new time stamp, where the segment stopped.
    fileprivate func continues(at next: UInt32, source: UInt32, event: UInt8) -> Bool {
        guard self.source == source, self.event == event, !hasEnded else { return false }
        let length = next &- timestamp
        return length >= DTMFReceiver.minSegment && length <= 0x1_0000
            && UInt32(duration) + DTMFReceiver.maxLostUnits >= length
    }
}
