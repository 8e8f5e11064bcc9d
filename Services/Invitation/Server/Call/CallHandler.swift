internal import BusProtocol
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import InvitationLogic
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Handles the service's commands about calls, and calls' timers.
struct CallHandler: Sendable {
    let driver: CallDriver
    let trunks: CachedRecords<AppID, TrunkTerms>
    let callees: CalleeNumbers
    let audit: AuditStore

    private var records: CallRecordStore { driver.records }
    private var lines: PhoneLines { driver.lines }

    /// Handles an act of a party.
    func act(_ command: CallAct, _ context: CommandContext) async throws(SignalingError) -> Done {
        if command.verb == .invite {
            try await invite(command, context)
            return Done()
        }
        try CallMessage.checkSize(command.extra)
        if command.verb == .message { try CallMessage.check(command.extra) }
        try await note(command, context)
        let callee = try CallRoute(callee: command.peer).account
        let tag = Self.tag(command.actor.user, command.channel, callee)
        try await driver.play(tag, context) { machine, now throws(SignalingError) in
            if let call = command.call { try machine.require(CallID(call)) }
            return try machine.play(command, now: now)
        }
        return Done()
    }

    /// Notes in the audit trail that an app's server ends a call, before it is done.
    private func note(_ command: CallAct, _ context: CommandContext) async throws(SignalingError) {
        guard command.verb == .end, command.actor.session.isServer, let call = command.call else { return }
        try await answerOfPostgres { () throws(PostgresError) in
            try await audit.note(
                .endCall(call, in: command.channel), to: command.actor.user, by: AuditCause(context))
        }
    }

    /// Handles the question for a user's call.
    func find(_ command: FindCall, _ context: CommandContext) async throws(SignalingError) -> FoundCall {
        let id = CallID(command.call)
        let references = try await records.calls(of: command.user)
        if let reference = references.first(where: { $0.call == id }) {
            let snapshot = try await records.load(reference.tag, command: context.id).snapshot
            if let snapshot, let peer = snapshot.peer(of: command.user.account, in: id) {
                return FoundCall(channel: snapshot.call.channel.name, peer: peer)
            }
        }
        throw SignalingError(.failed, .unknownCall, "the user has no such call")
    }

    /// Handles the end of a session.
    func endCalls(_ command: EndSessionCalls, _ context: CommandContext) async throws(SignalingError) -> Done {
        for reference in try await records.calls(of: command.user) {
            var step = context.step(reference.call.rawValue)
            step.deadline = context.deadline
            let snapshot = try await driver.play(reference.tag, step) { machine, now throws(SignalingError) in
                machine.sessionEnded(of: command.user.account, session: command.session, now: now)
            }
            if snapshot?.isLive(reference.call) != true { try await records.forget(reference, of: command.user) }
        }
        return Done()
    }

    /// Handles a call's timer.
    func fire(_ reference: CallTimerReference) async throws(SignalingError) {
        let command = CommandContext(id: reference.timer.command)
        guard let call = try await records.load(reference.tag, command: command.id).snapshot?.call else { return }
        let callee = try await records.party(UserKey(app: call.channel.app, account: call.callee.account))
        let isOnline = callee.session != nil
        try await driver.play(reference.tag, command) { machine, now throws(SignalingError) in
            machine.timerFired(reference.timer, now: now, calleeOnline: isOnline)
        }
    }

    private func invite(_ command: CallAct, _ context: CommandContext) async throws(SignalingError) {
        let caller = command.actor
        var request = try InvitationRequest(
            call: CallID(context.id), caller: caller, channel: command.channel, peer: command.peer,
            extra: command.extra)
        let callee = request.route.account
        let calleeKey = UserKey(app: caller.user.app, account: callee)
        let (callingParty, calledParty) = try await records.parties(caller.user, calleeKey)
        if caller.session.isServer {
            request.caller.uid = await callees.presence(of: caller.user, callingParty).uid
        } else if let present = callingParty.session, present != caller.session {
            throw SignalingError(.notLoggedIn, .sessionOver, "a newer login has replaced the session")
        }
        // The end of a session handles all of the user's calls, so their number is bounded.
        guard max(callingParty.calls, calledParty.calls) < Limits.callsPerUser else {
            InvitationMetrics.shared.callsOfUserBoundHit.increment()
            throw SignalingError(
                .inviteOther, .tooManyCalls, "one of the users already has \(Limits.callsPerUser) calls")
        }
        let invitation = request
        let destination = try await destination(of: invitation, isOnline: calledParty.session != nil)
        let tag = Self.tag(caller.user, command.channel, callee)
        switch destination {
        case .user:
            let presence = await callees.presence(of: calleeKey, calledParty)
            try await driver.play(tag, context) { machine, now throws(SignalingError) in
                try machine.invite(invitation, callee: presence, now: now)
            }
        case .telephone(let trunk):
            try await dial(invitation, trunk, tag, context)
        }
    }

    /// Reserves a line of the user and one of the app, then handles the invitation of the telephone.
    private func dial(
        _ request: InvitationRequest, _ trunk: TrunkTerms?, _ tag: String, _ context: CommandContext
    ) async throws(SignalingError) {
        let user = request.caller.user
        // Not for a redelivered command: its call may have ended and released its lines.
        if let trunk, try await records.load(tag, command: context.id).done == nil {
            let patience = driver.durations.dial + trunk.ring + CallDurations.lineGrace
            try await lines.take(request.call, of: user, on: trunk, for: patience)
        }
        do throws(SignalingError) {
            try await driver.play(tag, context) { machine, now throws(SignalingError) in
                try machine.dial(request, trunk: trunk, now: now)
            }
        } catch {
            // If the outcome is unknown, the lines are released at the call's end, or expire.
            if error.reason != .unavailable { try await lines.free(request.call, of: user) }
            throw error
        }
    }

    /// Whom a call rings.
    private enum Destination {
        case user
        case telephone(TrunkTerms?)
    }

    /// Determines the route; reads the app's trunk only if the route depends on it.
    private func destination(of request: InvitationRequest, isOnline: Bool) async throws(SignalingError) -> Destination
    {
        let app = request.caller.user.app
        switch request.route {
        case .user:
            return .user
        case .telephone:
            return .telephone(try await trunks.terms(of: app))
        case .either:
            do throws(SignalingError) {
                return try await trunks.terms(of: app).map { .telephone($0) } ?? .user
            } catch {
                // PostgreSQL does not answer, and the app's trunk was never read: a user who is online can be called
                // nevertheless.
                guard isOnline else { throw error }
                return .user
            }
        }
    }

    /// The tag of the record of two users in a channel: the same for both directions, so that at most one call is
    /// pending.
    private static func tag(_ user: UserKey, _ channel: ChannelName, _ other: Account) -> String {
        let (first, second) = user.account < other ? (user.account, other) : (other, user.account)
        return KeySpace.callTag(channel: ChannelKey(app: user.app, name: channel), caller: first, callee: second)
    }
}

extension CallStateMachine {
    fileprivate mutating func play(_ act: CallAct, now: RedisTime) throws(SignalingError) -> [CallAction] {
        switch act.verb {
        case .acknowledge: try acknowledge(by: act.actor, extra: act.extra, now: now)
        case .accept: try accept(by: act.actor, extra: act.extra, now: now)
        case .refuse: try refuse(by: act.actor, extra: act.extra, now: now)
        case .end: try end(by: act.actor, extra: act.extra, now: now)
        case .message: try message(by: act.actor, extra: act.extra, now: now)
        case .invite: throw SignalingError(.failed, .wrongVerb, "an invitation cannot be made in a call that exists")
        }
    }
}
