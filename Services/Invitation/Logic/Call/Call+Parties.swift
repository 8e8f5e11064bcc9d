internal import BusProtocol
internal import ClusterState
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
    func answered(by actor: Actor, now: RedisTime) throws(SignalingError) -> Call {
        try requireCallee(actor)
        var call = self
        call.callee.uid = actor.uid
        call.callee.session = actor.session
        call.acknowledgedAt = acknowledgedAt ?? now
        return call
    }

    /// Informs the caller: the session that invited, or the telephone.
    func tellCaller(_ type: CallEventType, _ extra: String) -> [CallAction] {
        if let orders = tellPhone(.caller, type, extra) { return orders }
        guard let session = caller.session else { return [] }
        return [
            .deliver(
                CallDelivery(
                    CallEvent(type, of: id, from: callee, extra), to: caller.account, audience: .session(session),
                    timeToLive: CallDurations.event))
        ]
    }

    /// Informs a callee that has acknowledged or answered the call, or the telephone; empty for a user who has not.
    func tellCallee(_ type: CallEventType, _ extra: String) -> [CallAction] {
        if let orders = tellPhone(.callee, type, extra) { return orders }
        guard let session = callee.session else { return [] }
        return [
            .deliver(
                CallDelivery(
                    CallEvent(type, of: id, from: caller, extra), to: callee.account, audience: .session(session),
                    timeToLive: CallDurations.event))
        ]
    }

    /// Informs a callee that has not answered. The event does not outlive the invitation, so that it is never delivered
    /// without it. Empty while the invitation is not queued; a telephone is informed in any case.
    /// - Parameter withdraws: whether the invitation is withdrawn instead if no session can receive both.
    func tellInvited(
        _ type: CallEventType, _ extra: String, for duration: Duration, withdraws: Bool = false
    ) -> [CallAction] {
        if let orders = tellPhone(.callee, type, extra) { return orders }
        guard let mail else { return [] }
        return [
            .deliver(
                CallDelivery(
                    CallEvent(type, of: id, from: caller, extra), to: callee.account, audience: .invited(mail),
                    timeToLive: duration, withdrawsWhenMissed: withdraws))
        ]
    }

    /// The invitation for the callee's mailbox.
    func invitation(_ extra: String, for time: Duration) -> CallDelivery {
        CallDelivery(
            CallEvent(.invitation, of: id, from: caller, extra), to: callee.account, audience: .anyone,
            timeToLive: time)
    }

    /// Removes the invitation from the callee's mailbox. Empty while it is not queued.
    var withdrawal: [CallAction] {
        mail.map { [.withdrawInvitation(callee: callee.account, version: $0)] } ?? []
    }

    var longestTimer: CallTimer { CallTimer(.longest, of: id) }

    /// Starts the time limit of an answered call with a telephone; nothing for a call between users.
    var bounding: [CallAction] {
        guard let hangUp else { return [] }
        let timer = CallAction.schedule(longestTimer, at: hangUp)
        return phone?.role == .callee
            ? [timer, .keepLine(id, caller.account, until: hangUp + CallDurations.lineGrace)] : [timer]
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
        if phone?.role != .caller { actions.append(.forget(id, caller.account)) }
        if callee.session != nil { actions.append(.forget(id, callee.account)) }
        if let bridge = phone?.bridge { actions.append(.release(id, bridge)) }
        if let hangUp { actions.append(.cancel(longestTimer, at: hangUp)) }
        if phone?.role == .callee { actions.append(.freeLine(id, caller.account)) }
        return actions
    }
}
