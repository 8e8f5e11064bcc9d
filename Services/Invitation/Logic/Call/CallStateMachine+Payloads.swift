/// What the states carry.
extension CallStateMachine {
    struct Waiting: Equatable, Sendable {
        var call: Call
        var deadline: Int64
        var calleeWasOnline: Bool

        var timer: CallTimer { CallTimer(.acknowledgement, of: call.id) }
        var cancellation: CallAction { .cancel(timer, at: deadline) }

        /// How long an event behind the invitation may wait: never longer than the invitation itself.
        func patience(_ now: Int64, _ durations: CallDurations) -> Int64 {
            max(1, deadline - now + durations.mailGrace / 2)
        }
    }

    struct Ringing: Equatable, Sendable {
        var call: Call
        var deadline: Int64

        var timer: CallTimer { CallTimer(.ring, of: call.id) }
        var cancellation: CallAction { .cancel(timer, at: deadline) }
    }

    struct Ended: Equatable, Sendable {
        var call: Call
        var at: Int64
        var end: CallEnd
        /// The invitation was withdrawn without a word: should the callee have read it in that moment, its first act
        /// shows so, and then it is told.
        var owesCalleeEnd: Bool
    }
}
