package import SignalingProtocol

/// Events that no party brings about.
extension CallStateMachine {
    /// The invitation stands in the callee's mailbox. Changes no state; an ended call's invitation is withdrawn.
    package mutating func invitationQueued(call: CallID, version: Int64) -> [CallAction] {
        switch state {
        case .waiting(var it) where it.call.id == call:
            it.call.mail = version
            state = .waiting(it)
            return []
        case .ringing(var it) where it.call.id == call:
            it.call.mail = version
            state = .ringing(it)
            return it.call.withdrawal
        case .accepted(var it) where it.id == call:
            it.mail = version
            state = .accepted(it)
            return it.withdrawal
        case .ended(var it) where it.call.id == call && it.call.mail != version:
            // The end came before the driver that queued the invitation could report it.
            it.call.mail = version
            it.owesCalleeEnd = it.call.calleeSession == nil
            state = .ended(it)
            return it.call.withdrawal
        case .none, .waiting, .ringing, .accepted, .ended:
            return []  // A later call took the place, or the record expired.
        }
    }

    /// The callee's mailbox takes no invitation. From waiting to ended; the caller learns it by the answer to its act.
    package mutating func invitationUndeliverable(call: CallID, now: Int64) -> [CallAction] {
        switch state {
        case .waiting(let it) where it.call.id == call:
            return finish(it.call, .undeliverable, now, [it.cancellation])
        case .none, .waiting, .ringing, .accepted, .ended:
            return []  // Another delivery of the same command got it through, or it is over by now.
        }
    }

    /// A timer is due. From waiting, ringing or, with a telephone, accepted to ended; a timer that was overtaken does nothing.
    package mutating func timerFired(_ timer: CallTimer, now: Int64, calleeOnline: Bool) -> [CallAction] {
        switch state {
        case .waiting(let it) where it.timer == timer:
            guard now >= it.deadline else { return [.schedule(timer, at: it.deadline)] }
            if it.call.phone?.role == .callee {
                let end: CallEnd = it.call.phone?.bridge == nil ? .noBridge : .notAcknowledged
                return finish(
                    it.call, end, now,
                    it.call.tellCaller(.failed, end.extra) + it.call.tellCallee(.ended, end.extra))
            }
            let end: CallEnd = it.calleeWasOnline || calleeOnline ? .notAcknowledged : .calleeOffline
            return finish(
                it.call, end, now, it.call.tellCaller(.failed, end.extra) + it.call.withdrawal,
                owes: true)
        case .ringing(let it) where it.timer == timer:
            guard now >= it.deadline else { return [.schedule(timer, at: it.deadline)] }
            let end = CallEnd.notAnswered
            return finish(
                it.call, end, now,
                it.call.tellCaller(.failed, end.extra)
                    + it.call.tellCallee(.ended, end.extra))
        case .accepted(let call) where timer == call.longestTimer:
            guard let hangUp = call.hangUp else { return [] }
            guard now >= hangUp else { return [.schedule(timer, at: hangUp)] }
            let end = CallEnd.tooLong
            return finish(call, end, now, call.tellCaller(.ended, end.extra) + call.tellCallee(.ended, end.extra))
        case .none, .waiting, .ringing, .accepted, .ended:
            return []
        }
    }

    /// A session of one of the parties is over. To ended when the call was that session's: an invitation that the
    /// callee has not acknowledged goes on waiting for the callee's next session.
    package mutating func sessionEnded(of account: Account, session: SessionID, now: Int64) -> [CallAction] {
        switch state {
        case .waiting(let it) where it.call.caller == account && it.call.callerSession == session:
            let end = CallEnd.callerGone
            return finish(
                it.call, end, now,
                it.call.tellInvited(.ended, end.extra, for: it.patience(now, durations), withdraws: true) + [
                    it.cancellation
                ])
        case .ringing(let it):
            let role = it.call.role(of: account, in: session)
            return lost(it.call, role, now, tellsCaller: .failed, [it.cancellation])
        case .accepted(let call):
            return lost(call, call.role(of: account, in: session), now, tellsCaller: .ended, [])
        case .none, .waiting, .ended:
            return []
        }
    }

    /// - Parameter role: whose session is over; nil when it was no party's.
    private mutating func lost(
        _ call: Call, _ role: CallRole?, _ now: Int64, tellsCaller: CallEventType, _ closing: [CallAction]
    ) -> [CallAction] {
        switch role {
        case .caller:
            let end = CallEnd.callerGone
            return finish(call, end, now, call.tellCallee(.ended, end.extra) + closing)
        case .callee:
            let end = CallEnd.calleeGone
            return finish(call, end, now, call.tellCaller(tellsCaller, end.extra) + closing)
        case nil: return []
        }
    }
}

extension Call {
    /// Which party has the call in that session; nil when none has.
    fileprivate func role(of account: Account, in session: SessionID) -> CallRole? {
        if caller == account, callerSession == session { return .caller }
        return callee == account && calleeSession == session ? .callee : nil
    }
}
