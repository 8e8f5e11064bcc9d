internal import ClusterState
package import SignalingProtocol

/// Events that are not acts of a party.
extension CallStateMachine {
    /// Records that the invitation is in the callee's mailbox. If the call has ended, the invitation is withdrawn.
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
            // The call ended before the driver could report the queued invitation.
            it.call.mail = version
            it.owesCalleeEnd = it.call.callee.session == nil
            state = .ended(it)
            return it.call.withdrawal
        case .none, .waiting, .ringing, .accepted, .ended:
            return []  // A later call has replaced it, or the record has expired.
        }
    }

    /// Called when the callee's mailbox refuses the invitation. From waiting to ended; the caller gets an error as the
    /// answer to its act.
    package mutating func invitationUndeliverable(call: CallID, now: RedisTime) -> [CallAction] {
        switch state {
        case .waiting(let it) where it.call.id == call:
            return finish(it.call, .undeliverable, now, [it.cancellation])
        case .none, .waiting, .ringing, .accepted, .ended:
            return []  // Another delivery of the same command succeeded, or the call has ended by now.
        }
    }

    /// Called when a timer fires. From waiting, ringing or, with a telephone, accepted to ended; outdated timers do
    /// nothing.
    package mutating func timerFired(_ timer: CallTimer, now: RedisTime, calleeOnline: Bool) -> [CallAction] {
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

    /// Called when a session of one of the parties has ended. To ended when the call belonged to that session. An
    /// invitation that the callee has not acknowledged keeps waiting for the callee's next session.
    package mutating func sessionEnded(of account: Account, session: SessionID, now: RedisTime) -> [CallAction] {
        switch state {
        case .waiting(let it) where it.call.caller.account == account && it.call.caller.session == session:
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

    /// - Parameter role: the party whose session has ended; nil when it was neither's.
    private mutating func lost(
        _ call: Call, _ role: CallRole?, _ now: RedisTime, tellsCaller: CallEventType, _ closing: [CallAction]
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
    /// The party that takes part in the call with this session; nil for none.
    fileprivate func role(of account: Account, in session: SessionID) -> CallRole? {
        if caller.account == account, caller.session == session { return .caller }
        return callee.account == account && callee.session == session ? .callee : nil
    }
}
