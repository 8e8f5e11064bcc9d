/// The state of a ``CallStateMachine`` as stored between events.
package struct CallSnapshot: Equatable, Sendable {
    /// The state of the call.
    package enum Phase: Equatable, Sendable {
        /// Not acknowledged; fails at the deadline (ms of Redis' clock).
        case waiting(deadline: Int64, calleeWasOnline: Bool)
        /// Acknowledged; fails at the deadline (ms of Redis' clock).
        case ringing(deadline: Int64)
        /// Accepted.
        case accepted
        /// Ended at a time (ms of Redis' clock).
        case ended(at: Int64, end: CallEnd, owesCalleeEnd: Bool)
    }

    /// The call.
    package var call: Call
    /// The call's state.
    package var phase: Phase

    /// Creates a snapshot.
    package init(call: Call, phase: Phase) {
        self.call = call
        self.phase = phase
    }

    /// How long a call is kept whose end is never reported, in ms: a day.
    package static let longestLife: Int64 = 86_400_000

    /// How long the record is kept after its last change, in ms: a day while the call lives; a minute after its end,
    /// for acts that were sent before the end was known.
    package var timeToLive: Int64 {
        switch phase {
        case .waiting, .ringing, .accepted: Self.longestLife
        case .ended: 60_000
        }
    }
}
