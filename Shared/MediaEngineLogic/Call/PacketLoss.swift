/// The packets of one user that are missing, by their sequence numbers (RFC 3550 appendix A.3).
///
/// A slot's numbers go on when it changes hands, so that each user has a run of numbers, and another one when the user
/// comes back into a slot; `begin` starts it.
struct PacketLoss: Sendable {
    /// The packets of an interval.
    struct Interval: Sendable, Hashable {
        /// Packets that should have come.
        var expected = 0
        /// Those that came, duplicates left out where they are seen.
        var received = 0

        /// The missing ones, in percent of the expected ones, 0...100.
        var lostPercent: Double {
            expected > 0 ? Double(max(0, expected - received)) * 100 / Double(expected) : 0
        }
    }

    /// A number farther away than this begins another run.
    static let greatestJump = 1000

    private var newest: UInt16?
    /// Which of the 64 numbers up to the newest came: bit 0 is the newest.
    private var seen: UInt64 = 0
    private var interval = Interval()

    /// The next packet is the first of another run of numbers: what lies between is nobody's loss.
    mutating func begin() { newest = nil }

    /// Counts a packet; false when it came before.
    mutating func put(sequence: UInt16) -> Bool {
        let distance = newest.map { Int(Int16(bitPattern: sequence &- $0)) } ?? Int.max
        guard abs(distance) <= Self.greatestJump else {
            (newest, seen) = (sequence, 1)
            interval.expected += 1
            interval.received += 1
            return true
        }
        if distance > 0 {
            newest = sequence
            seen = distance < 64 ? seen << UInt64(distance) | 1 : 1
            interval.expected += distance
        } else {
            let bit: UInt64 = -distance < 64 ? 1 << UInt64(-distance) : 0
            guard seen & bit == 0 else { return false }
            seen |= bit
        }
        interval.received += 1
        return true
    }

    /// The packets since the last call; a late one of the interval before makes up for one that is missing in this.
    mutating func take() -> Interval {
        defer { interval = Interval() }
        return interval
    }
}
