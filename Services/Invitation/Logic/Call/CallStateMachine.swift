package import BusProtocol
internal import ClusterState
package import SignalingProtocol

/// The life of the call between two parties in one channel, and how each is informed. The parties are two users, or a
/// user and a telephone.
///
/// One machine serves both directions, so that at most one call between two parties is pending in a channel. Each
/// method handles one event. If it throws, that is the answer to a refused act, and nothing has changed. Sources:
/// Signaling API, "Calls"; `Docs/protocol.md`, "Events of calls".
package struct CallStateMachine: Equatable, Sendable {
    enum State: Equatable, Sendable {
        /// No call is known. Can go to: waiting, ended (the callee must be online and is not, or the app has no trunk).
        case none
        /// The callee's client has not acknowledged yet, or the telephone does not ring yet. Can go to: ringing,
        /// accepted (the acceptance has overtaken the acknowledgement), ended; waiting again when the caller's next
        /// session invites anew.
        case waiting(Waiting)
        /// The callee's client has received the invitation. Can go to: accepted, ended; waiting as above.
        case ringing(Ringing)
        /// The callee accepted. Can go to: ended; waiting as above.
        case accepted(Call)
        /// The call has ended; kept for a minute for acts sent before the end was known. Can go to: waiting, ended (the
        /// next call).
        case ended(Ended)
    }

    var state: State
    let durations: CallDurations

    /// Creates a machine without a call.
    package init(durations: CallDurations = CallDurations()) {
        state = .none
        self.durations = durations
    }

    // MARK: - Acts of the parties

    /// Handles an invitation. From none or ended to waiting, or to ended when the callee must be online and is not.
    /// - Throws: ``SignalingCode/inviteReinvite`` while a call between the two is pending; that call is not changed.
    package mutating func invite(
        _ request: InvitationRequest, callee: CalleePresence, now: RedisTime
    ) throws(SignalingError) -> [CallAction] {
        let actions = try makeRoom(for: request.caller, calleeOnline: callee.online, now)
        let channel = ChannelKey(app: request.caller.user.app, name: request.channel)
        let call = Call(
            id: request.call, channel: channel, caller: CallParty(request.caller),
            callee: CallParty(account: request.route.account, uid: callee.uid), startedAt: now)
        let mustBeOnline = request.options.requiresPeerOnline || request.options.timeout == .zero
        if mustBeOnline, !callee.online {
            state = .ended(Ended(call: call, at: now, end: .calleeOffline, owesCalleeEnd: false))
            return actions + call.tellCaller(.failed, CallEnd.calleeOffline.extra) + [
                .log(CallLogEntry(call: call, endedAt: now, end: .calleeOffline))
            ]
        }
        let wait = request.options.timeout == .zero ? durations.immediate : request.options.timeout
        let waiting = Waiting(call: call, deadline: now + wait, calleeWasOnline: callee.online)
        state = .waiting(waiting)
        return actions + [
            .schedule(CallTimer(.acknowledgement, of: call.id), at: waiting.deadline),
            .remember(call.id, call.caller.account),
            .deliverInvitation(
                call.invitation(request.extra, for: wait + durations.mailGrace)),
            .log(CallLogEntry(call: call)),
        ]
    }

    /// Handles the callee's acknowledgement. From waiting to ringing; later ones only update the callee's session.
    package mutating func acknowledge(
        by actor: Actor, extra: String, now: RedisTime
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
                .remember(call.id, call.callee.account),
            ] + call.tellCaller(.acknowledged, extra) + call.withdrawal + [
                it.cancellation, .log(CallLogEntry(call: call)),
            ]
        case .ringing(var it):
            it.call = try it.call.answered(by: actor, now: now)
            state = .ringing(it)
            return []
        case .accepted(let call):
            try call.requireCallee(actor)
            return []  // The acceptance has overtaken the acknowledgement.
        case .ended(let it):
            try it.call.requireCallee(actor)
            return tellLateCalleeOfEnd(it, actor)  // It was sent before the end was known.
        }
    }

    /// Handles the callee's acceptance. From waiting or ringing to accepted.
    /// - Throws: ``SignalingCode/failed`` (`call_ended`) when the call has ended; it is not revived.
    package mutating func accept(by actor: Actor, extra: String, now: RedisTime) throws(SignalingError) -> [CallAction]
    {
        switch state {
        case .none:
            throw Call.unknown
        case .waiting(let it):
            return try accept(it.call, by: actor, extra, now, it.call.withdrawal + [it.cancellation])
        case .ringing(let it):
            return try accept(it.call, by: actor, extra, now, [it.cancellation])
        case .accepted(let call):
            try call.requireCallee(actor)
            return []  // A repeated acceptance.
        case .ended(let it):
            try it.call.requireCallee(actor)
            let owed = tellLateCalleeOfEnd(it, actor)
            guard owed.isEmpty else { return owed }
            throw Call.over
        }
    }

    /// Handles the callee's refusal. From waiting or ringing to ended.
    /// - Throws: ``SignalingCode/failed`` (`wrong_state`) after the acceptance.
    package mutating func refuse(by actor: Actor, extra: String, now: RedisTime) throws(SignalingError) -> [CallAction]
    {
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
            throw SignalingError(.failed, .wrongState, "the call was already accepted; end it instead")
        case .ended(let it):
            try it.call.requireCallee(actor)
            forgetOwedEnd(it)
            return []  // It was sent before the end was known; both want the call to end.
        }
    }

    /// Handles the end by either party. From waiting, ringing or accepted to ended.
    package mutating func end(by actor: Actor, extra: String, now: RedisTime) throws(SignalingError) -> [CallAction] {
        if actor.session.isServer { return try endByServer(as: actor, extra, now) }
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
            return []  // Both parties ended it, or it had timed out.
        }
    }

    /// Passes a message of either party on, while the call lives. Changes no state.
    package mutating func message(by actor: Actor, extra: String, now: RedisTime) throws(SignalingError) -> [CallAction]
    {
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

// MARK: - Steps shared by several events

extension CallStateMachine {
    /// Ends a pending call that has in fact ended but is not marked so, and that would prevent a new one.
    mutating func makeRoom(
        for caller: Actor, calleeOnline: Bool, _ now: RedisTime
    ) throws(SignalingError) -> [CallAction] {
        let pending: (call: Call, timer: CallTimer?, deadline: RedisTime?)
        switch state {
        case .none, .ended: return []
        case .waiting(let it): pending = (it.call, it.timer, it.deadline)
        case .ringing(let it): pending = (it.call, it.timer, it.deadline)
        case .accepted(let call): pending = (call, nil, nil)
        }
        let account = caller.user.account
        let session: SessionID? =
            switch pending.call.role(of: account) {
            case .caller: pending.call.caller.session
            case .callee: pending.call.callee.session
            case nil: nil
            }
        if let session, session != caller.session, !caller.session.isServer {
            // The account has logged in again, and the end of its old session has not been reported yet.
            return sessionEnded(of: account, session: session, now: now)
        }
        if let timer = pending.timer, let deadline = pending.deadline, now >= deadline + durations.lostTimer {
            return timerFired(timer, now: now, calleeOnline: calleeOnline)
        }
        throw SignalingError(
            .inviteReinvite, .reinvite, "a call between these users in this channel is already pending")
    }

    private mutating func accept(
        _ call: Call, by actor: Actor, _ extra: String, _ now: RedisTime, _ closing: [CallAction]
    ) throws(SignalingError) -> [CallAction] {
        var call = try call.answered(by: actor, now: now)
        call.acceptedAt = now
        state = .accepted(call)
        return [.remember(call.id, call.callee.account)] + call.bounding + call.tellCaller(.accepted, extra) + closing
            + [.log(CallLogEntry(call: call))]
    }

    private mutating func end(
        _ call: Call, by actor: Actor, _ extra: String, _ now: RedisTime, _ closing: [CallAction]
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
        _ call: Call, by actor: Actor, _ extra: String, _ patience: Duration = .zero
    ) throws(SignalingError) -> [CallAction] {
        switch try call.role(of: actor) {
        case .callee:
            return call.tellCaller(.message, extra)
        case .caller where call.phone?.role == .callee && call.phone?.bridge == nil:
            throw SignalingError(.failed, .wrongState, "the telephone is not being called yet")
        case .caller where call.callee.session == nil:
            return call.tellInvited(.message, extra, for: patience)
        case .caller:
            return call.tellCallee(.message, extra)
        }
    }

    mutating func finish(
        _ call: Call, _ end: CallEnd, _ now: RedisTime, _ steps: [CallAction], owes: Bool = false
    ) -> [CallAction] {
        state = .ended(Ended(call: call, at: now, end: end, owesCalleeEnd: owes))
        return steps + call.forgetting + [.log(CallLogEntry(call: call, endedAt: now, end: end))]
    }

    private mutating func tellLateCalleeOfEnd(_ it: Ended, _ actor: Actor) -> [CallAction] {
        guard it.owesCalleeEnd else { return [] }
        var call = it.call
        call.callee.session = actor.session
        call.callee.uid = actor.uid
        state = .ended(Ended(call: call, at: it.at, end: it.end, owesCalleeEnd: false))
        return call.tellCallee(.ended, it.end.extra)
    }

    private mutating func forgetOwedEnd(_ it: Ended) {
        state = .ended(Ended(call: it.call, at: it.at, end: it.end, owesCalleeEnd: false))
    }
}
