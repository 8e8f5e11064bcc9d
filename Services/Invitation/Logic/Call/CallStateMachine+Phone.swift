package import BusProtocol
internal import ClusterState
package import SignalingProtocol

/// Calls in which one party is a telephone: reports of its sip-bridge, and the loss of the bridge.
///
/// A report from a bridge that does not hold the telephone, or about a call that has ended, changes nothing. The bridge
/// learns from ``CallSnapshot/continues(_:with:)`` that it must hang up.
extension CallStateMachine {
    /// Handles a user's invitation of a telephone. From none or ended to waiting, or to ended when the app has no
    /// trunk.
    /// - Throws: ``SignalingCode/inviteReinvite`` while a call between the two is pending; that call is not changed.
    package mutating func dial(
        _ request: InvitationRequest, trunk: TrunkTerms?, now: RedisTime
    ) throws(SignalingError) -> [CallAction] {
        let actions = try makeRoom(for: request.caller, calleeOnline: true, now)
        let user = request.caller.user
        var call = Call(
            id: request.call, channel: ChannelKey(app: user.app, name: request.channel),
            caller: CallParty(request.caller), callee: CallParty(account: request.route.account), startedAt: now)
        call.phone = PhoneLeg(role: .callee, ring: trunk?.ring, longest: trunk?.longest)
        guard trunk != nil, let phoneCall = call.phoneCall else {
            state = .ended(Ended(call: call, at: now, end: .noTrunk, owesCalleeEnd: false))
            return actions + call.tellCaller(.failed, CallEnd.noTrunk.extra) + [
                .log(CallLogEntry(call: call, endedAt: now, end: .noTrunk))
            ]
        }
        let stated = request.options.statedTimeout.flatMap { $0 > .zero ? $0 : nil }
        let waiting = Waiting(
            call: call, deadline: now + min(stated ?? durations.dial, durations.dial), calleeWasOnline: true)
        state = .waiting(waiting)
        return actions + [
            .schedule(waiting.timer, at: waiting.deadline),
            .remember(call.id, call.caller.account),
            .dial(phoneCall, extra: request.extra, until: waiting.deadline),
            .log(CallLogEntry(call: call)),
        ]
    }

    /// Handles a telephone's call to a user. From none or ended to waiting; or to ended when the user is offline, which
    /// only the bridge is told, by the reply.
    package mutating func invite(
        from phone: PhoneLeg, in phoneCall: PhoneCall, extra: String, callee: CalleePresence, now: RedisTime
    ) -> [CallAction] {
        switch state {
        case .none, .ended: break
        case .waiting, .ringing, .accepted: return []  // Delivered before; its result is not stored any more.
        }
        var call = Call(
            id: CallID(phoneCall.id), channel: phoneCall.channel, caller: CallParty(account: phoneCall.phone),
            callee: CallParty(account: phoneCall.user, uid: callee.uid), startedAt: now)
        call.phone = phone
        guard callee.online, let bridge = phone.bridge else {
            state = .ended(Ended(call: call, at: now, end: .calleeOffline, owesCalleeEnd: false))
            return [.log(CallLogEntry(call: call, endedAt: now, end: .calleeOffline))]
        }
        let wait = min(.seconds(Limits.invitationTimeoutDefault), phone.ring ?? durations.ring)
        let waiting = Waiting(call: call, deadline: now + wait, calleeWasOnline: true)
        state = .waiting(waiting)
        return [
            .schedule(waiting.timer, at: waiting.deadline),
            .hold(call.id, bridge),
            .deliverInvitation(
                call.invitation(extra, for: wait + durations.mailGrace)),
            .log(CallLogEntry(call: call)),
        ]
    }

    /// Handles a report of a sip-bridge.
    package mutating func phoneActed(_ report: PhoneReport, now: RedisTime) -> [CallAction] {
        let (id, extra) = (CallID(report.call.id), report.extra)
        if report.act == .claimed { return claim(id, by: report.bridge, report.record) }
        guard let role = note(report.record, in: id, by: report.bridge) else { return [] }
        switch report.act {
        case .claimed: return []
        case .ringing: return role == .callee ? phoneRang(extra, now) : []
        case .accepted: return role == .callee ? phoneAccepted(extra, now) : []
        case .refused: return endByPhone(.refused, .refused, extra, now)
        case .failed(let code): return endByPhone(CallEnd(phone: code), .failed, extra, now)
        case .ended(.success): return endByPhone(role == .callee ? .endedByCallee : .endedByCaller, .failed, extra, now)
        case .ended(let code): return endByPhone(CallEnd(phone: code), .failed, extra, now)
        case .message: return passPhoneMessage(extra, now)
        }
    }

    /// Handles the loss of the sip-bridge that holds a call's telephone. To ended.
    package mutating func bridgeLost(_ bridge: BridgeID, call id: CallID, now: RedisTime) -> [CallAction] {
        guard note(PhoneRecord(), in: id, by: bridge) != nil else { return [] }
        return endByPhone(.bridgeLost, .failed, CallEnd.bridgeLost.extra, now)
    }
}

extension CallStateMachine {
    /// Handles a claim: the first bridge that claims an outgoing call gets it, and may repeat the claim.
    private mutating func claim(_ id: CallID, by bridge: BridgeID, _ record: PhoneRecord) -> [CallAction] {
        guard case .waiting(var it) = state, it.call.id == id, let phone = it.call.phone, phone.role == .callee,
            phone.bridge == nil
        else { return [] }
        it.call.phone = phone.noting(record)
        it.call.phone?.bridge = bridge
        state = .waiting(it)
        return [.hold(id, bridge)]
    }

    /// Records the SIP facts of a report.
    /// - Returns: the telephone's role in the call; nil when the call is not the bridge's, or has ended.
    private mutating func note(_ record: PhoneRecord, in id: CallID, by bridge: BridgeID) -> CallRole? {
        func noting(_ call: Call) -> Call? {
            guard call.id == id, let phone = call.phone, phone.bridge == bridge else { return nil }
            var call = call
            call.phone = phone.noting(record)
            return call
        }
        switch state {
        case .waiting(var it):
            guard let call = noting(it.call) else { return nil }
            it.call = call
            state = .waiting(it)
            return call.phone?.role
        case .ringing(var it):
            guard let call = noting(it.call) else { return nil }
            it.call = call
            state = .ringing(it)
            return call.phone?.role
        case .accepted(let old):
            guard let call = noting(old) else { return nil }
            state = .accepted(call)
            return call.phone?.role
        case .none, .ended:
            return nil
        }
    }

    /// Handles the telephone's ringing. From waiting to ringing.
    private mutating func phoneRang(_ extra: String, _ now: RedisTime) -> [CallAction] {
        switch state {
        case .waiting(let it):
            var call = it.call
            call.acknowledgedAt = now
            let ringing = Ringing(call: call, deadline: now + (call.phone?.ring ?? durations.ring))
            state = .ringing(ringing)
            return [.schedule(ringing.timer, at: ringing.deadline)] + call.tellCaller(.acknowledged, extra) + [
                it.cancellation, .log(CallLogEntry(call: call)),
            ]
        case .none, .ringing, .accepted, .ended:
            return []  // A repeated ringing, or one after the answer.
        }
    }

    /// Handles the telephone's answer. From waiting or ringing to accepted.
    private mutating func phoneAccepted(_ extra: String, _ now: RedisTime) -> [CallAction] {
        var call: Call
        let cancellation: CallAction
        switch state {
        case .waiting(let it): (call, cancellation) = (it.call, it.cancellation)
        case .ringing(let it): (call, cancellation) = (it.call, it.cancellation)
        case .none, .accepted, .ended: return []  // A repeated answer.
        }
        call.acknowledgedAt = call.acknowledgedAt ?? now
        call.acceptedAt = now
        state = .accepted(call)
        return call.bounding + call.tellCaller(.accepted, extra) + [cancellation, .log(CallLogEntry(call: call))]
    }

    /// Ends the call because of the telephone. From waiting, ringing or accepted to ended.
    /// - Parameter type: the event for a user who invited, before the answer; after it, and for a callee, it is a bye.
    private mutating func endByPhone(
        _ end: CallEnd, _ type: CallEventType, _ extra: String, _ now: RedisTime
    ) -> [CallAction] {
        switch state {
        case .waiting(let it):
            let told =
                it.call.phone?.role == .callee
                ? it.call.tellCaller(type, extra)
                : it.call.tellInvited(.ended, extra, for: it.patience(now, durations), withdraws: true)
            return finish(it.call, end, now, told + [it.cancellation])
        case .ringing(let it):
            let told =
                it.call.phone?.role == .callee
                ? it.call.tellCaller(type, extra) : it.call.tellCallee(.ended, extra)
            return finish(it.call, end, now, told + [it.cancellation])
        case .accepted(let call):
            let told =
                call.phone?.role == .callee ? call.tellCaller(.ended, extra) : call.tellCallee(.ended, extra)
            return finish(call, end, now, told)
        case .none, .ended:
            return []
        }
    }

    /// Passes a telephone's message on. Changes no state.
    private func passPhoneMessage(_ extra: String, _ now: RedisTime) -> [CallAction] {
        let call: Call
        var patience: Duration = .zero
        switch state {
        case .waiting(let it): (call, patience) = (it.call, it.patience(now, durations))
        case .ringing(let it): call = it.call
        case .accepted(let it): call = it
        case .none, .ended: return []
        }
        if call.phone?.role == .callee { return call.tellCaller(.message, extra) }
        return call.callee.session == nil
            ? call.tellInvited(.message, extra, for: patience) : call.tellCallee(.message, extra)
    }
}

extension CallSnapshot {
    /// Whether this call is the current one, has not ended, and belongs to this sip-bridge.
    package func continues(_ id: CallID, with bridge: BridgeID) -> Bool {
        isLive(id) && call.phone?.bridge == bridge
    }

    /// Whether this call is the current one and has not ended.
    package func isLive(_ id: CallID) -> Bool {
        switch phase {
        case .waiting, .ringing, .accepted: call.id == id
        case .ended: false
        }
    }
}
