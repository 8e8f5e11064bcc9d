/// The state of a ``CallStateMachine`` as it is kept between events.
public struct CallSnapshot: Equatable, Sendable {
    /// Where the call stands.
    public enum Phase: Equatable, Sendable {
        /// Not acknowledged; fails at the deadline (ms of the Redis clock).
        case waiting(deadline: Int64, calleeWasOnline: Bool)
        /// Acknowledged; fails at the deadline (ms of the Redis clock).
        case ringing(deadline: Int64)
        /// Accepted.
        case accepted
        /// Over since that time (ms of the Redis clock).
        case ended(at: Int64, end: CallEnd, owesCalleeEnd: Bool)
    }

    /// The call.
    public var call: Call
    /// Where it stands.
    public var phase: Phase

    /// Joins the two.
    public init(call: Call, phase: Phase) {
        self.call = call
        self.phase = phase
    }

    /// How long a call whose end is lost is kept, ms: a day.
    public static let longestLife: Int64 = 86_400_000

    /// How long the record is kept after its last change, ms: a day while the call lives, a minute after its end, for
    /// acts that cross it.
    public var timeToLive: Int64 {
        switch phase {
        case .waiting, .ringing, .accepted: Self.longestLife
        case .ended: 60_000
        }
    }
}
