internal import SignalingProtocol

/// Which party may do what, and how each party is informed.
extension Call {
    static let unknown = SignalingError(
        .failed, .unknownCall, "there is no such call with that peer in that channel")
    static let over = SignalingError(.failed, .callEnded, "the call is over")

    func role(of actor: Actor) throws(SignalingError) -> CallRole {
        guard let role = role(of: actor.user.account) else { throw Self.unknown }
        return role
    }

    func requireCallee(_ actor: Actor) throws(SignalingError) {
        guard try role(of: actor) == .callee else { throw Self.unknown }
    }

    /// The call, updated with what an act of the callee shows: its client has received the invitation, and in which
    /// session.
    func answered(by actor: Actor, now: Int64) throws(SignalingError) -> Call {
        try requireCallee(actor)
        var call = self
        call.calleeUID = actor.uid
        call.calleeSession = actor.session
        call.acknowledgedAt = acknowledgedAt ?? now
        return call
    }

    /// Informs the caller: the session that invited, or the telephone.
    func tellCaller(_ type: CallEventType, _ extra: String) -> [CallAction] {
        if let orders = tellPhone(.caller, type, extra) { return orders }
        guard let callerSession else { return [] }
        return [
            .deliver(
                CallDelivery(
                    call: id, type: type, receiver: caller, peer: callee, peerUID: calleeUID, extra: extra,
                    audience: .session(callerSession), timeToLive: CallDurations.event))
        ]
    }

    /// Informs a callee that has acknowledged or answered the call, or the telephone; empty for a user who has not.
    func tellCallee(_ type: CallEventType, _ extra: String) -> [CallAction] {
        if let orders = tellPhone(.callee, type, extra) { return orders }
        guard let calleeSession else { return [] }
        return [
            .deliver(
                CallDelivery(
                    call: id, type: type, receiver: callee, peer: caller, peerUID: callerUID, extra: extra,
                    audience: .session(calleeSession), timeToLive: CallDurations.event))
        ]
    }

    /// Informs a callee that has not answered. The event does not outlive the invitation, so that it is never delivered
    /// without it. Empty while the invitation is not queued; a telephone is informed in any case.
    /// - Parameter withdraws: whether the invitation is withdrawn instead if no session can receive both.
    func tellInvited(
        _ type: CallEventType, _ extra: String, for duration: Int64, withdraws: Bool = false
    ) -> [CallAction] {
        if let orders = tellPhone(.callee, type, extra) { return orders }
        guard let mail else { return [] }
        return [
            .deliver(
                CallDelivery(
                    call: id, type: type, receiver: callee, peer: caller, peerUID: callerUID, extra: extra,
                    audience: .invited(mail), timeToLive: duration, withdrawsWhenMissed: withdraws))
        ]
    }

    /// Removes the invitation from the callee's mailbox. Empty while it is not queued.
    var withdrawal: [CallAction] {
        mail.map { [.withdrawInvitation(callee: callee, version: $0)] } ?? []
    }

    var longestTimer: CallTimer { CallTimer(.longest, of: id) }

    /// Starts the time limit of an answered call with a telephone; nothing for a call between users.
    var bounding: [CallAction] {
        guard let hangUp else { return [] }
        let timer = CallAction.schedule(longestTimer, at: hangUp)
        return phone?.role == .callee
            ? [timer, .keepLine(id, caller, until: hangUp + CallDurations.lineGrace)] : [timer]
    }

    /// Informs the parties of a call whose record is lost, as far as their sessions are known.
    package var lostDeliveries: [CallDelivery] {
        let extra = CallEnd.lost.extra
        let actions = tellCaller(acceptedAt == nil ? .failed : .ended, extra) + tellCallee(.ended, extra)
        return actions.compactMap { if case .deliver(let delivery) = $0 { delivery } else { nil } }
    }

    /// Removes the ended call from the lists of its users and its bridge.
    var forgetting: [CallAction] {
        var actions: [CallAction] = []
        if phone?.role != .caller { actions.append(.forget(id, caller)) }
        if calleeSession != nil { actions.append(.forget(id, callee)) }
        if let bridge = phone?.bridge { actions.append(.release(id, bridge)) }
        if let hangUp { actions.append(.cancel(longestTimer, at: hangUp)) }
        if phone?.role == .callee { actions.append(.freeLine(id, caller)) }
        return actions
    }
}
