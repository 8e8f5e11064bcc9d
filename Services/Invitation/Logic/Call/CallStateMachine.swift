package import SignalingProtocol

/// The life of the call between two parties in one channel, and what to tell whom at each step. The parties are users, or
/// a user and a telephone.
///
/// One machine serves both directions, so that at most one call is pending between two parties in a channel. Each method
/// is one event; what it throws is the answer to a refused act, and then nothing has changed. Times are ms of the Redis
/// clock. Sources: Signaling API, "Calls"; wire protocol, sections 7 and 12.
package struct CallStateMachine: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// No call is known. Can go to: waiting, ended (the callee must be online and is not, the app has no trunk).
        case none
        /// The callee's client has not acknowledged, or the telephone does not ring yet. Can go to: ringing, accepted (the acknowledgement was overtaken),
        /// ended; waiting again when the next session of the caller invites anew.
        case waiting(Waiting)
        /// The callee's client has the invitation. Can go to: accepted, ended; waiting as above.
        case ringing(Ringing)
        /// The callee accepted. Can go to: ended; waiting as above.
        case accepted(Call)
        /// It is over; kept for a minute for acts that cross the end. Can go to: waiting, ended (the next call).
        case ended(Ended)
    }

    var state: State
    let durations: CallDurations

    /// A pair without a call.
    package init(durations: CallDurations = CallDurations()) {
        state = .none
        self.durations = durations
    }

    /// The state as it was kept.
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

    /// What to keep; nil when no call is known.
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

    // MARK: - Acts of the parties

    /// The caller invites. From none or ended to waiting, or to ended when the callee must be online and is not.
    /// - Throws: ``SignalingCode/inviteReinvite`` while a call is pending between the two; it stays as it is.
    package mutating func invite(
        _ request: InvitationRequest, callee: CalleePresence, now: Int64
    ) throws(SignalingError) -> [CallAction] {
        let actions = try makeRoom(for: request.caller, calleeOnline: callee.online, now)
        let channel = ChannelKey(app: request.caller.user.app, name: request.channel)
        let call = Call(
            id: request.call, channel: channel, caller: request.caller.user.account, callerUID: request.caller.uid,
            callerSession: request.caller.session, callee: request.route.account, calleeUID: callee.uid, startedAt: now)
        let mustBeOnline = request.options.requiresPeerOnline || request.options.timeout == 0
        if mustBeOnline, !callee.online {
            state = .ended(Ended(call: call, at: now, end: .calleeOffline, owesCalleeEnd: false))
            return actions + call.tellCaller(.failed, CallEnd.calleeOffline.extra) + [
                .log(CallLogEntry(call: call, endedAt: now, end: .calleeOffline))
            ]
        }
        let wait = request.options.timeout == 0 ? durations.immediate : request.options.timeout
        let waiting = Waiting(call: call, deadline: now + wait, calleeWasOnline: callee.online)
        state = .waiting(waiting)
        return actions + [
            .schedule(CallTimer(.acknowledgement, of: call.id), at: waiting.deadline),
            .remember(call.id, call.caller),
            .deliverInvitation(
                CallDelivery(
                    call: call.id, type: .invitation, receiver: call.callee, peer: call.caller, peerUID: call.callerUID,
                    extra: request.extra, audience: .anyone, timeToLive: wait + durations.mailGrace)),
            .log(CallLogEntry(call: call)),
        ]
    }

    /// The callee's client has the invitation. From waiting to ringing; later ones only renew the callee's session.
    package mutating func acknowledge(
        by actor: Actor, extra: String, now: Int64
    ) throws(SignalingError) -> [CallAction] {
        switch state {
        case .none:
            throw Call.unknown
        case .waiting(let it):
            let call = try it.call.answered(by: actor, now: now)
            let ringing = Ringing(call: call, deadline: now + (call.phone?.ring ?? durations.ring))
            state = .ringing(ringing)
            return [
                .schedule(CallTimer(.ring, of: call.id), at: ringing.deadline),
                .remember(call.id, call.callee),
            ] + call.tellCaller(.acknowledged, extra) + call.withdrawal + [
                it.cancellation, .log(CallLogEntry(call: call)),
            ]
        case .ringing(var it):
            it.call = try it.call.answered(by: actor, now: now)
            state = .ringing(it)
            return []
        case .accepted(let call):
            try call.requireCallee(actor)
            return []  // The acknowledgement was overtaken by the acceptance.
        case .ended(let it):
            try it.call.requireCallee(actor)
            return tellOwedEnd(it, actor)  // It crossed the end.
        }
    }

    /// The callee accepts. From waiting or ringing to accepted.
    /// - Throws: ``SignalingCode/failed`` (`call_ended`) when it crossed the end: the end stands.
    package mutating func accept(by actor: Actor, extra: String, now: Int64) throws(SignalingError) -> [CallAction] {
        switch state {
        case .none:
            throw Call.unknown
        case .waiting(let it):
            return try accept(it.call, by: actor, extra, now, it.call.withdrawal + [it.cancellation])
        case .ringing(let it):
            return try accept(it.call, by: actor, extra, now, [it.cancellation])
        case .accepted(let call):
            try call.requireCallee(actor)
            return []  // Said twice.
        case .ended(let it):
            try it.call.requireCallee(actor)
            let owed = tellOwedEnd(it, actor)
            guard owed.isEmpty else { return owed }
            throw Call.over
        }
    }

    /// The callee refuses. From waiting or ringing to ended.
    /// - Throws: ``SignalingCode/failed`` (`wrong_state`) once accepted.
    package mutating func refuse(by actor: Actor, extra: String, now: Int64) throws(SignalingError) -> [CallAction] {
        switch state {
        case .none:
            throw Call.unknown
        case .waiting(let it):
            let call = try it.call.answered(by: actor, now: now)
            return finish(
                call, .refused, now,
                call.tellCaller(.refused, extra) + call.withdrawal + [it.cancellation])
        case .ringing(let it):
            let call = try it.call.answered(by: actor, now: now)
            return finish(
                call, .refused, now, call.tellCaller(.refused, extra) + [it.cancellation])
        case .accepted(let call):
            try call.requireCallee(actor)
            throw SignalingError(.failed, .wrongState, "the call is accepted already: end it")
        case .ended(let it):
            try it.call.requireCallee(actor)
            forgetOwedEnd(it)
            return []  // It crossed the end, and both want it over.
        }
    }

    /// Either party ends the call. From waiting, ringing or accepted to ended.
    package mutating func end(by actor: Actor, extra: String, now: Int64) throws(SignalingError) -> [CallAction] {
        switch state {
        case .none:
            throw Call.unknown
        case .waiting(let it):
            switch try it.call.role(of: actor) {
            case .caller:
                return finish(
                    it.call, .endedByCaller, now,
                    it.call.tellInvited(.ended, extra, for: it.patience(now, durations), withdraws: true) + [
                        it.cancellation
                    ])
            case .callee:
                let call = try it.call.answered(by: actor, now: now)
                return finish(
                    call, .endedByCallee, now,
                    call.tellCaller(.ended, extra) + call.withdrawal + [it.cancellation])
            }
        case .ringing(let it):
            return try end(it.call, by: actor, extra, now, [it.cancellation])
        case .accepted(let call):
            return try end(call, by: actor, extra, now, [])
        case .ended(let it):
            if try it.call.role(of: actor) == .callee { forgetOwedEnd(it) }
            return []  // Both ended it, or it crossed a time-out.
        }
    }

    /// Either party sends a message. In any live state; changes none.
    package mutating func message(by actor: Actor, extra: String, now: Int64) throws(SignalingError) -> [CallAction] {
        switch state {
        case .none:
            throw Call.unknown
        case .waiting(let it):
            return try message(it.call, by: actor, extra, it.patience(now, durations))
        case .ringing(let it):
            return try message(it.call, by: actor, extra)
        case .accepted(let call):
            return try message(call, by: actor, extra)
        case .ended(let it):
            _ = try it.call.role(of: actor)
            throw Call.over
        }
    }
}

// MARK: - Steps that several events share

extension CallStateMachine {
    /// Ends a pending call that is over but not marked so, and would keep a new one from beginning.
    mutating func makeRoom(
        for caller: Actor, calleeOnline: Bool, _ now: Int64
    ) throws(SignalingError) -> [CallAction] {
        let pending: (call: Call, timer: CallTimer?, deadline: Int64?)
        switch state {
        case .none, .ended: return []
        case .waiting(let it): pending = (it.call, it.timer, it.deadline)
        case .ringing(let it): pending = (it.call, it.timer, it.deadline)
        case .accepted(let call): pending = (call, nil, nil)
        }
        let account = caller.user.account
        let session: SessionID? =
            switch pending.call.role(of: account) {
            case .caller: pending.call.callerSession
            case .callee: pending.call.calleeSession
            case nil: nil
            }
        if let session, session != caller.session {
            // The account has logged in anew, and the end of its old session has not arrived yet.
            return sessionEnded(of: account, session: session, now: now)
        }
        if let timer = pending.timer, let deadline = pending.deadline, now >= deadline + durations.lostTimer {
            return timerFired(timer, now: now, calleeOnline: calleeOnline)
        }
        throw SignalingError(.inviteReinvite, .reinvite, "a call between the two in that channel is pending")
    }

    private mutating func accept(
        _ call: Call, by actor: Actor, _ extra: String, _ now: Int64, _ closing: [CallAction]
    ) throws(SignalingError) -> [CallAction] {
        var call = try call.answered(by: actor, now: now)
        call.acceptedAt = now
        state = .accepted(call)
        return [.remember(call.id, call.callee)] + call.bounding + call.tellCaller(.accepted, extra) + closing
            + [.log(CallLogEntry(call: call))]
    }

    private mutating func end(
        _ call: Call, by actor: Actor, _ extra: String, _ now: Int64, _ closing: [CallAction]
    ) throws(SignalingError) -> [CallAction] {
        switch try call.role(of: actor) {
        case .caller:
            return finish(call, .endedByCaller, now, call.tellCallee(.ended, extra) + closing)
        case .callee:
            let call = try call.answered(by: actor, now: now)
            return finish(call, .endedByCallee, now, call.tellCaller(.ended, extra) + closing)
        }
    }

    private func message(
        _ call: Call, by actor: Actor, _ extra: String, _ patience: Int64 = 0
    ) throws(SignalingError) -> [CallAction] {
        switch try call.role(of: actor) {
        case .callee:
            return call.tellCaller(.message, extra)
        case .caller where call.phone?.role == .callee && call.phone?.bridge == nil:
            throw SignalingError(.failed, .wrongState, "no telephone is reached yet")
        case .caller where call.calleeSession == nil:
            return call.tellInvited(.message, extra, for: patience)
        case .caller:
            return call.tellCallee(.message, extra)
        }
    }

    mutating func finish(
        _ call: Call, _ end: CallEnd, _ now: Int64, _ steps: [CallAction], owes: Bool = false
    ) -> [CallAction] {
        state = .ended(Ended(call: call, at: now, end: end, owesCalleeEnd: owes))
        return steps + call.forgetting + [.log(CallLogEntry(call: call, endedAt: now, end: end))]
    }

    private mutating func tellOwedEnd(_ it: Ended, _ actor: Actor) -> [CallAction] {
        guard it.owesCalleeEnd else { return [] }
        var call = it.call
        call.calleeSession = actor.session
        call.calleeUID = actor.uid
        state = .ended(Ended(call: call, at: it.at, end: it.end, owesCalleeEnd: false))
        return call.tellCallee(.ended, it.end.extra)
    }

    private mutating func forgetOwedEnd(_ it: Ended) {
        state = .ended(Ended(call: it.call, at: it.at, end: it.end, owesCalleeEnd: false))
    }
}
