internal import ClusterState
package import SignalingProtocol

/// The state of a ``CallStateMachine`` as stored between events.
package struct CallSnapshot: Equatable, Sendable {
    /// The state of the call.
    package enum Phase: Equatable, Sendable {
        /// Not acknowledged; fails at the deadline.
        case waiting(deadline: RedisTime, calleeWasOnline: Bool)
        /// Acknowledged; fails at the deadline.
        case ringing(deadline: RedisTime)
        /// Accepted.
        case accepted
        /// Ended at a time.
        case ended(at: RedisTime, end: CallEnd, owesCalleeEnd: Bool)
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

    /// How long a call is kept whose end is never reported: a day.
    package static let longestLife = Duration.seconds(86_400)

    /// How long the record is kept after its last change: a day while the call lives; a minute after its end,
    /// for acts that were sent before the end was known.
    package var timeToLive: Duration {
        switch phase {
        case .waiting, .ringing, .accepted: Self.longestLife
        case .ended: .seconds(60)
        }
    }
}
