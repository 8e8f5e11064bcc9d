internal import ClusterState
internal import SignalingProtocol

/// The data of the states.
extension CallStateMachine {
    struct Waiting: Equatable, Sendable {
        var call: Call
        var deadline: RedisTime
        var calleeWasOnline: Bool

        var timer: CallTimer { CallTimer(.acknowledgement, of: call.id) }
        var cancellation: CallAction { .cancel(timer, at: deadline) }

        /// How long an event after the invitation may wait: never longer than the invitation itself.
        func patience(_ now: RedisTime, _ durations: CallDurations) -> Duration {
            max(.milliseconds(1), deadline - now + durations.mailGrace / 2)
        }
    }

    struct Ringing: Equatable, Sendable {
        var call: Call
        var deadline: RedisTime

        var timer: CallTimer { CallTimer(.ring, of: call.id) }
        var cancellation: CallAction { .cancel(timer, at: deadline) }
    }

    struct Ended: Equatable, Sendable {
        var call: Call
        var at: RedisTime
        var end: CallEnd
        /// Whether the callee must still be informed of the end. The invitation was withdrawn silently; if the callee
        /// had received it just before, its first act shows that, and it is then informed.
        var owesCalleeEnd: Bool
    }
}
