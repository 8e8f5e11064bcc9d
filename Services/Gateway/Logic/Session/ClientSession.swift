internal import DequeModule
package import SignalingProtocol
internal import SignalingWire

/// One client's connection and the session on it, composed of the login, the order of the calls, their
/// rates, the mailbox and the channel.
///
/// All events enter through ``handle(_:_:)``, which returns actions for the driver (`ClientConnection`) to perform. The
/// driver performs all actions of an event before it passes the next one, and otherwise sees only ``held``. Of its own
/// accord it only closes connections: idle ones, and those whose input or output exceeds a bound.
///
/// Channel events are passed in only if they need a decision: ``SessionAction/showAll(after:)`` sets the id above which
/// the channel's fan-out sends them to the client by itself.
package struct ClientSession: ~Copyable {
    /// The login, and the session while there is one; it also tells when nothing is done for the connection any more.
    var login = ConnectionStateMachine()
    /// The order of the calls, and whether the client is read from.
    var calls = CallPipeline(held: false)
    /// The session's rate limits, with the limits of its app.
    var rates = SessionRates()
    /// What the app's server is asked before it happens; empty for most apps.
    var hooks = HookPoints()
    /// Whether ``hooks`` are those of the app. A resumed session whose app's settings are not known neither joins nor
    /// sends.
    var areHooksKnown = true
    /// The session's mailbox; nil until the login or resume is answered.
    var mailbox: SessionMailbox?
    /// The session's channel.
    var channel = SessionChannel()

    /// Creates a connection on which nothing was received yet.
    package init() {}

    /// What the gateway holds, as presence is told in a reassertion; nil unless the session is logged in. Reassertions
    /// concern all connections of a shard at once, so the shard reads this instead of sending an event to each.
    package var held: HeldSession? { login.active?.session.held(at: channel.place.held) }

    /// The session's user; nil unless the session is logged in.
    package var user: UserKey? { login.active?.user }

    /// Whether no login was attempted yet.
    package var isFresh: Bool { login.isFresh }

    /// The app of the session, or of the login or resume that is in progress.
    package var app: AppID? { login.app }

    /// Handles an event.
    /// - Returns: the actions to perform, in order.
    package mutating func handle(
        _ event: SessionEvent, _ environment: any SessionEnvironment
    ) -> SessionActions {
        var actions = SessionActions()
        switch event {
        case .frame(let frame, let bytes, let time):
            received(frame, bytes: bytes, at: time, environment, &actions)
        case .login(let request, let isAllowed): logIn(request, isAllowed: isAllowed, &actions)
        case .lineLogin(let request, let isAllowed):
            if !login.isOver { resume(request, isAllowed: isAllowed, &actions) }
        case .output(let isPaused): outputChanged(isPaused: isPaused, &actions)
        case .connectionLost: lose(nil, &actions)
        case .close(let closing): lose(closing, &actions)
        case .appAnswered(let answer, let session, let secret):
            if case .success(let settings) = answer {
                rates.adopt(settings.limits)
                adopt(settings.hook?.points ?? HookPoints())
            }
            take(login.appAnswered(answer, session: session, secret: secret, now: environment.unixTime), &actions)
        case .limits(let limits): rates.adopt(limits)
        case .hooks(let points): adopt(points)
        case .hookAnswered(.login, let verdict): take(login.authorized(verdict), &actions)
        case .hookAnswered(.call(let call), let verdict): hookAnswered(call, verdict, &actions)
        case .opened(let answer): take(login.opened(answer), &actions)
        case .resumed(let answer): take(login.resumed(answer), &actions)
        case .ratesTaken(let left): goOnResuming(left, environment, &actions)
        case .loggedOut(let ticket, let error): loggedOut(ticket, error, &actions)
        case .superseded(let ending): superseded(ending, &actions)
        case .end(let code): endSession(code, &actions)
        case .tokenCheck: endIfExpired(environment, &actions)
        case .answered(let ticket, let result): answered(ticket, result, &actions)
        case .messageAnswered(let ticket, let error, let name): messageAnswered(ticket, error, in: name, &actions)
        case .goOn: goOn(environment, &actions)
        case .mail, .resynchronizeMailbox, .mailboxIs, .mailboxLoaded, .mailboxLoadDue, .mailboxNotCleared,
            .pollTimerFired:
            handleMailbox(event, environment, &actions)
        case .subscribed, .joined, .left, .published, .logRead, .joinUndone, .membershipTold, .settlementDue:
            handleChannel(event, &actions)
        }
        actions.goesOn = canGoOn
        return actions
    }

    private mutating func received(
        _ frame: ClientFrame, bytes: Int, at time: LocalTime, _ environment: any SessionEnvironment,
        _ actions: inout SessionActions
    ) {
        guard !login.isOver else { return }
        switch frame {
        case .ping(let number): actions.append(.send(ServerFrame.pong(number), isAnswer: false))
        case .login(let request): logIn(request, isAllowed: true, &actions)
        case .lineLogin(let request): resume(request, isAllowed: true, &actions)
        case .call(let request): received(request, bytes: bytes, at: time, environment, &actions)
        case .mediaHello, .media: loseExcluded("a frame about media was passed to the session", &actions)
        }
    }

    private mutating func outputChanged(isPaused: Bool, _ actions: inout SessionActions) {
        guard !login.isOver else { return }
        calls.isPaused = isPaused
        regulateReading(&actions)
    }

    /// Whether a waiting call, push or missed event may proceed.
    private var canGoOn: Bool {
        guard !login.isOver else { return false }
        if calls.mayStartNext { return true }
        guard !calls.isPaused else { return false }
        if channel.joined?.isReplaying == true { return true }
        return switch mailbox {
        case .some(let mailbox): !mailbox.unsentPushes.isEmpty
        case .none: false
        }
    }

    /// Performs one step of the waiting work. Each step may pause the next one, if the client does not read fast
    /// enough.
    private mutating func goOn(_ environment: any SessionEnvironment, _ actions: inout SessionActions) {
        guard !login.isOver else { return }
        if !calls.isPaused, channel.joined?.isReplaying == true { return continueReplay(&actions) }
        if !calls.isPaused, let entry = mailbox?.unsentPushes.popFirst() {
            return actions.append(.send(ServerFrame.pushMessage(entry), isAnswer: false))
        }
        if let next = calls.next() { start(next, isNew: false, environment, &actions) }
        regulateReading(&actions)
    }

    /// Starts or stops reading from the client, depending on how many calls and answers wait.
    mutating func regulateReading(_ actions: inout SessionActions) {
        guard !login.isOver, let reads = calls.regulateReading() else { return }
        if !reads { actions.append(.count(.readingPaused)) }
        actions.append(.setReading(reads))
    }

    func send(_ frame: [UInt8], isAnswer: Bool = false, _ actions: inout SessionActions) {
        actions.append(.send(frame, isAnswer: isAnswer))
    }

    // MARK: - The end

    /// Handles the loss of the connection: the session stays alive without one.
    mutating func lose(_ closing: SessionAction.Closing?, _ actions: inout SessionActions) {
        guard !login.isOver else { return }
        if case .detach(let session) = login.connectionLost() { detach(session, &actions) }
        finish(closing, &actions)
    }

    mutating func detach(_ session: ConnectionStateMachine.Session, _ actions: inout SessionActions) {
        unbind(&actions)
        let claim = session.hold.claim == 0 ? nil : session.hold.claim
        actions.append(.detach(session.line.session, session.user, claim: claim))
        // Without a claim, a reassertion could not be ordered among those of other gateways.
        if claim != nil { actions.append(.remember(session.held(at: channel.place.held))) }
    }

    private mutating func unbind(_ actions: inout SessionActions) {
        if let bound = login.unbind() { actions.append(.unbind(bound)) }
    }

    /// Ends all work for the connection; called once, when ``login`` has ended.
    mutating func finish(_ closing: SessionAction.Closing?, _ actions: inout SessionActions) {
        if let last = login.lastActive { actions.append(.keepRates(last.id, rates)) }
        unbind(&actions)
        if channel.joined != nil { actions.append(.leaveLocally) }
        if mailbox?.poll.hasTimer == true { actions.append(.cancelPollTimer) }
        channel = SessionChannel()
        mailbox = nil
        calls.abandon()
        if let closing { actions.append(.close(closing)) }
    }

    /// Loses the connection because it has met a combination which the types exclude, and has the error logged. The
    /// client may resume its session.
    mutating func loseExcluded(_ what: String, _ actions: inout SessionActions) {
        actions.append(.logError(what))
        lose(.restart, &actions)
    }

    /// Answers a call that has met a combination which the states exclude, and has the error logged.
    mutating func answerExcluded(_ ticket: CallTicket, _ what: String, _ actions: inout SessionActions) {
        actions.append(.logError(what))
        answered(ticket, .failure(.unavailable("the session")), &actions)
    }
}
