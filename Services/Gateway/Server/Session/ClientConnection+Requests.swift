internal import BusProtocol
internal import ClusterBus
internal import GatewayLogic
internal import Logging
internal import MessageStore
internal import NIOCore
internal import Pacing
internal import ServiceMetrics
internal import SignalingProtocol

/// The requests of ``ClientSession`` to Redis and the services; the replies become its events.
extension ClientConnection {
    /// The time limit of requests that settle a join.
    private static let settlementTimeout = Duration.seconds(2)
    private static let settlementPause = Duration.seconds(1)
    /// The pause before an app's settings are looked up again.
    private static let settingsPause = Duration.seconds(1)
    /// How long an entry that has overtaken another waits for it, before the mailbox is read.
    private static let earlierMailPause = Duration.milliseconds(100)

    func perform(_ request: SessionAction.Request, on shard: isolated GatewayShard) {
        switch request {
        case .askApp(let app): askApp(app, on: shard)
        case .askHook(let question): askHook(question, on: shard)
        case .open(let session): open(session, on: shard)
        case .resume(let session): resume(session, on: shard)
        case .endSession(let session, let user): endSession(session, of: user, on: shard)
        case .logOut(let active, let ticket): logOut(ticket, of: active, on: shard)
        case .loadMailbox(let active, let after, let fresh): loadMailbox(of: active, after: after, fresh, on: shard)
        case .loadMailboxLater: later(.milliseconds(.random(in: 200...1000)), .mailbox(.loadDue), on: shard)
        case .awaitEarlierMail(let gap): later(Self.earlierMailPause, .mailbox(.gapDue(gap)), on: shard)
        case .clearMailbox(let active, let version): clearMailbox(of: active, through: version, on: shard)
        case .subscribe(let key): subscribe(key, on: shard)
        case .join(let active, let ticket, let name, let number):
            join(ticket, JoinChannel(actor: active.actor, channel: name, moveNumber: number), on: shard)
        case .leave(let active, let ticket, let name, let number):
            let command = LeaveChannel(
                actor: active.actor, channel: name, reason: .leaveByUser, moveNumber: number)
            leave(ticket, command, on: shard)
        case .readLog(let key, let after, let number): readLog(key, after: after, number, on: shard)
        case .undoJoin(let active, let name, let settlement): undoJoin(of: active, name, settlement, on: shard)
        case .askMembership(let active, let key, let settlement):
            askMembership(of: active.user.account, key, settlement, on: shard)
        case .settleLater(let settlement): later(Self.settlementPause, .channel(.settlementDue(settlement)), on: shard)
        }
    }

    /// When a call must be answered: counted from its arrival, however long it has waited for its turn.
    func deadline(of ticket: CallTicket, on shard: isolated GatewayShard) -> NIODeadline {
        (ticket.arrivedAt + shard.environment.callTimeout).deadline
    }

    private func later(_ pause: Duration, _ event: SessionEvent, on shard: isolated GatewayShard) {
        shard.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) { [self] in handle(event, on: shard) }
    }

    // MARK: - Presence

    private func askApp(_ app: AppID, on shard: isolated GatewayShard) {
        loginDeadline = .now + shard.environment.callTimeout
        shard.apps.find(app) { [self] settings in
            if case .success(let settings) = settings { shard.adopt(settings, of: app) }
            let (session, secret) = shard.nameSession()
            handle(.session(.appAnswered(settings, session: session, secret: secret)), on: shard)
        }
    }

    /// Asks the app's server; what is asked about has its own time limit too.
    private func askHook(_ question: HookQuestion, on shard: isolated GatewayShard) {
        let end =
            switch question {
            case .login: loginDeadline.deadline
            case .join(let call, _), .message(let call, _): deadline(of: call.ticket, on: shard)
            }
        let client = HookDesk.Client(address: address, key: addressKey)
        shard.hooks.ask(question, of: client, until: end) { [self] verdict in
            handle(.hookAnswered(question, verdict), on: shard)
        }
    }

    private func open(_ session: ConnectionStateMachine.Session, on shard: isolated GatewayShard) {
        var command = OpenSession(
            gateway: shard.id, line: session.line, device: session.device, push: session.push,
            tokenExpiry: session.tokenExpiry)
        command.address = remote?.clientAddress
        let app = session.user.app
        shard.ask(command, for: self, inTurnBy: loginDeadline) { [self] result in
            // The hook may have changed meanwhile, of which the shard tells only sessions that are logged in.
            handle(.session(.hooks(shard.hooks.points(of: app))), on: shard)
            handle(.session(.app(shard.apps.shared(app))), on: shard)
            handle(.session(.opened(result)), on: shard)
        }
    }

    private func resume(_ session: ConnectionStateMachine.Session, on shard: isolated GatewayShard) {
        loginDeadline = .now + shard.environment.callTimeout
        shard.awaitResume(of: session.line.session, on: self)
        // Begun now, so that the session waits for one round trip to presence, not for two.
        shard.apps.find(session.user.app) { _ in }
        var command = ResumeSession(gateway: shard.id, line: session.line)
        command.address = remote?.clientAddress
        shard.ask(command, for: self, inTurnBy: loginDeadline) { [self] result in
            resumeAnswered(session.line, result, on: shard)
        }
    }

    /// Passes on presence's reply; a success only with the app's settings, because they say what the session must
    /// not do unasked.
    private func resumeAnswered(
        _ line: Line, _ result: Result<SessionResumed, SignalingError>, on shard: isolated GatewayShard
    ) {
        guard result.failure == nil else { return tellResumed(line.session, result, on: shard) }
        shard.apps.find(line.user.app) { [self] settings in
            learn(settings, of: line.user.app, on: shard)
            handle(.session(.app(shard.apps.shared(line.user.app))), on: shard)
            tellResumed(line.session, result, on: shard)
        }
    }

    private func tellResumed(
        _ id: SessionID, _ result: Result<SessionResumed, SignalingError>, on shard: isolated GatewayShard
    ) {
        handle(.session(.resumed(result)), on: shard)
        shard.resumeAnswered(of: id, on: self)
    }

    /// Tells a resumed session what its app's settings say. The session is valid also without them: it has the default
    /// limits and the hook that the shard knows then. Without either, it neither joins nor sends until they are found.
    private func learn(
        _ settings: Result<AppSettings, SignalingError>, of app: AppID, on shard: isolated GatewayShard
    ) {
        switch settings {
        case .success(let settings):
            shard.adopt(settings, of: app)
            handle(.session(.limits(settings.limits)), on: shard)
            handle(.session(.hooks(shard.hooks.points(of: app))), on: shard)
        case .failure:
            handle(.session(.hooks(shard.hooks.heldPoints(of: app))), on: shard)
            shard.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Self.settingsPause)) { [self] in
                learnLater(of: app, on: shard)
            }
        }
    }

    private func learnLater(of app: AppID, on shard: isolated GatewayShard) {
        // The session has ended meanwhile, or its connection.
        guard session.user != nil else { return }
        shard.apps.find(app) { [self] settings in learn(settings, of: app, on: shard) }
    }

    private func endSession(_ session: SessionID, of user: UserKey, on shard: isolated GatewayShard) {
        let command = CloseSession(user: user, session: session, reason: .leaveOther)
        shard.sender.send(command, within: shard.configuration.commandTimeout) { result in
            // The session could not be ended; without a connection it times out.
            if case .failure = result { shard.detach(session, of: user) }
        }
    }

    private func logOut(_ ticket: CallTicket, of active: ActiveSession, on shard: isolated GatewayShard) {
        let command = CloseSession(user: active.user, session: active.id, reason: .leaveLogout)
        shard.sender.send(command, by: deadline(of: ticket, on: shard)) { [self] result in
            GatewayMetrics.shared.calls.logout.record(since: ticket.arrivedAt)
            handle(.session(.loggedOut(ticket, result.failure)), on: shard)
        }
    }

    // MARK: - The mailbox

    private func loadMailbox(
        of active: ActiveSession, after: Int64, _ fresh: Bool, on shard: isolated GatewayShard
    ) {
        let section = MailboxSection(after: after, limit: MailboxStateMachine.windowBound, fresh: fresh)
        shard.messages.readMailbox(active.user, in: fence(active), section) { [self] result in
            handle(.mailbox(.loaded(result)), on: shard)
        }
    }

    private func clearMailbox(of active: ActiveSession, through version: Int64, on shard: isolated GatewayShard) {
        shard.mailboxes.clear(active.user, in: active.id, through: version) { [self] result in
            // Entries that were not deleted are delivered again at the next login: delivery is at least once.
            guard case .failure(let error) = result else { return }
            handle(.mailbox(.notCleared(error)), on: shard)
            shard.logger.warning("could not delete acknowledged mailbox entries", metadata: ["error": "\(error)"])
        }
    }

    /// The session and gateway that Redis checks before it acts.
    func fence(_ active: ActiveSession) -> SessionFence {
        SessionFence(session: active.id, gateway: shard.id)
    }

    // MARK: - The channel

    private func subscribe(_ key: ChannelKey, on shard: isolated GatewayShard) {
        let wanted = shard.channel(key)
        wanted.whenSubscribed { [self] success in
            // The client leaves its channel for this one, and gets first what was said there.
            channel?.writeMessages(on: shard)
            handle(.channel(.subscribed(key, success, last: wanted.feed.last, left: channel?.feed.last)), on: shard)
        }
    }

    private func join(_ ticket: CallTicket, _ command: JoinChannel, on shard: isolated GatewayShard) {
        let key = ChannelKey(app: command.actor.user.app, name: command.channel)
        shard.joinBegan(of: command.actor.session, in: key)
        shard.sender.send(command, by: deadline(of: ticket, on: shard)) { [self] result in
            shard.joinAnswered(of: command.actor.session)
            GatewayMetrics.shared.calls.join.record(since: ticket.arrivedAt)
            let joined = result.map { JoinedChannel($0, members: shard.memberLists.list($0.members, in: key)) }
            handle(.channel(.joined(ticket, joined)), on: shard)
        }
    }

    private func leave(_ ticket: CallTicket, _ command: LeaveChannel, on shard: isolated GatewayShard) {
        shard.sender.send(command, by: deadline(of: ticket, on: shard)) { [self] result in
            GatewayMetrics.shared.calls.leave.record(since: ticket.arrivedAt)
            left(command.channel, ticket, result, on: shard)
        }
    }

    private func left(
        _ name: ChannelName, _ ticket: CallTicket, _ result: Result<ChannelLeft, SignalingError>,
        on shard: isolated GatewayShard
    ) {
        guard case .success(let left) = result, let sequence = left.sequence, let channel, channel.key.name == name
        else { return handle(.channel(.left(ticket, result.failure)), on: shard) }
        channel.whenWritten(through: sequence, on: shard) { [self] in handle(.channel(.left(ticket, nil)), on: shard) }
    }

    private func readLog(
        _ key: ChannelKey, after position: ChannelPosition, _ number: Int, on shard: isolated GatewayShard
    ) {
        shard.messages.readLog(key, after: position) { [self] result in
            handle(.channel(.logRead(number: number, try? result.get(), last: channel?.feed.last)), on: shard)
        }
    }

    // MARK: - A join that was not answered

    private func undoJoin(
        of active: ActiveSession, _ name: ChannelName, _ settlement: Int, on shard: isolated GatewayShard
    ) {
        let command = LeaveChannel(actor: active.actor, channel: name, reason: .leaveByUser)
        shard.sender.send(command, within: Self.settlementTimeout) { [self] result in
            handle(.channel(.joinUndone(settlement: settlement, result.failure == nil)), on: shard)
        }
    }

    private func askMembership(
        of account: Account, _ key: ChannelKey, _ settlement: Int, on shard: isolated GatewayShard
    ) {
        let query = QueryMember(channel: key, account: account)
        shard.sender.send(query, within: Self.settlementTimeout) { [self] result in
            handle(.channel(.membershipTold(settlement: settlement, isMember: try? result.get().isMember)), on: shard)
        }
    }
}

extension Result {
    /// The error; nil for a success.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
