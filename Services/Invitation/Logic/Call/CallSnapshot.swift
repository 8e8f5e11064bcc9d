/// The state of a ``CallStateMachine`` as it is kept between events.
package struct CallSnapshot: Equatable, Sendable {
    /// Where the call stands.
    package enum Phase: Equatable, Sendable {
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
    package var call: Call
    /// Where it stands.
    package var phase: Phase

    /// Joins the two.
    package init(call: Call, phase: Phase) {
        self.call = call
        self.phase = phase
    }

    /// How long a call whose end is lost is kept, ms: a day.
    package static let longestLife: Int64 = 86_400_000

    /// How long the record is kept after its last change, ms: a day while the call lives, a minute after its end, for
    /// acts that cross it.
    package var timeToLive: Int64 {
        switch phase {
        case .waiting, .ringing, .accepted: Self.longestLife
        case .ended: 60_000
        }
    }
}
