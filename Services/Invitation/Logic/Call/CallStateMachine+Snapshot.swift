/// The state as stored between events.
extension CallStateMachine {
    /// Restores a stored state.
    package init(_ snapshot: CallSnapshot, durations: CallDurations = CallDurations()) {
        self.durations = durations
        let call = snapshot.call
        switch snapshot.phase {
        case .waiting(let deadline, let calleeWasOnline):
            state = .waiting(Waiting(call: call, deadline: deadline, calleeWasOnline: calleeWasOnline))
        case .ringing(let deadline):
            state = .ringing(Ringing(call: call, deadline: deadline))
        case .accepted:
            state = .accepted(call)
        case .ended(let at, let end, let owesCalleeEnd):
            state = .ended(Ended(call: call, at: at, end: end, owesCalleeEnd: owesCalleeEnd))
        }
    }

    /// The state to store; nil when no call is known.
    package var snapshot: CallSnapshot? {
        switch state {
        case .none: nil
        case .waiting(let it):
            CallSnapshot(
                call: it.call, phase: .waiting(deadline: it.deadline, calleeWasOnline: it.calleeWasOnline))
        case .ringing(let it): CallSnapshot(call: it.call, phase: .ringing(deadline: it.deadline))
        case .accepted(let call): CallSnapshot(call: call, phase: .accepted)
        case .ended(let it):
            CallSnapshot(call: it.call, phase: .ended(at: it.at, end: it.end, owesCalleeEnd: it.owesCalleeEnd))
        }
    }
}
