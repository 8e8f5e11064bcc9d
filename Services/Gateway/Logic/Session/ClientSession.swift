package import BusProtocol
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
    /// Whether ``hooks`` has the app's settings. A resumed session may lack them for a while; until they come, it
    /// neither joins channels nor sends messages.
    var areHooksKnown = true
    /// The session's mailbox; nil until the login or resume is answered.
    var mailbox: SessionMailbox?
    /// Whether there has been news of the mailbox before it was started.
    var isMailMissed = false
    /// The session's channel.
    var channel = SessionChannel()

    /// Creates a connection on which nothing was received yet.
    package init() {}

    /// What the gateway holds, as presence is told in a reassertion; nil unless the session is logged in. Reassertions
    /// concern all connections of a shard at once, so the shard reads this instead of sending an event to each.
    package var held: HeldSession? { login.active?.session.held(at: channel.place.held) }

    /// The session's user; nil unless the session is logged in.
    package var user: UserKey? { login.active?.user }

    /// What the client's calls must contain; nil while none are accepted.
    package var line: String? { login.line }

    /// Whether no login was attempted yet.
    package var isFresh: Bool { login.isFresh }

    /// Whether the client waits for an answer to its login or to a call.
    package var owesAnswers: Bool { login.isUnderWay || calls.owesAnswers }

    /// The app of the session, or of the login or resume that is in progress.
    package var app: AppID? { login.user?.app }

    /// The user of the session, or of the login or resume that is in progress.
    package var subject: UserKey? { login.user }

    /// Handles an event.
    /// - Returns: the actions to perform, in order.
    package mutating func handle(
        _ event: SessionEvent, _ environment: any SessionEnvironment
    ) -> SessionActions {
        var actions = SessionActions()
        switch event {
        case .ping(let number): if !login.isOver { send(ServerFrame.pong(number), &actions) }
        case .call(let request, let bytes, let time):
            received(request, bytes: bytes, at: time, environment, &actions)
        case .login(let request, let isAllowed): logIn(request, isAllowed: isAllowed, &actions)
        case .lineLogin(let request, let isAllowed): resume(request, isAllowed: isAllowed, &actions)
        case .output(let isPaused): outputChanged(isPaused: isPaused, &actions)
        case .connectionLost: lose(nil, &actions)
        case .close(let closing): lose(closing, &actions)
        case .answered(let ticket, let result): answered(ticket, result, &actions)
        case .messageAnswered(let ticket, let error, let name): messageAnswered(ticket, error, in: name, &actions)
        case .hookAnswered(let question, let verdict): hookAnswered(question, verdict, &actions)
        case .nextTurn: serveNext(environment, &actions)
        case .session(let event): handle(event, environment, &actions)
        case .mailbox(let event): handle(event, environment, &actions)
        case .channel(let event): handle(event, &actions)
        }
        actions.hasNextTurn = hasNextTurn
        return actions
    }

    private mutating func outputChanged(isPaused: Bool, _ actions: inout SessionActions) {
        guard !login.isOver else { return }
        calls.isPaused = isPaused
        regulateReading(&actions)
    }

    /// Whether a waiting call, push or missed event may be served.
    private var hasNextTurn: Bool {
        guard !login.isOver else { return false }
        if calls.mayStartNext { return true }
        guard !calls.isPaused else { return false }
        if channel.joined?.isReplaying == true { return true }
        return switch mailbox {
        case .some(let mailbox): !mailbox.unsentPushes.isEmpty
        case .none: false
        }
    }

    /// Serves one of those that wait. Each may pause the next one, if the client does not read fast enough.
    private mutating func serveNext(_ environment: any SessionEnvironment, _ actions: inout SessionActions) {
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
        actions.append(.session(.detach(session.line.session, session.user, claim: claim)))
        // Without a claim, a reassertion could not be ordered among those of other gateways.
        if claim != nil { actions.append(.session(.remember(session.held(at: channel.place.held)))) }
    }

    private mutating func unbind(_ actions: inout SessionActions) {
        if let bound = login.unbind() { actions.append(.session(.unbind(bound))) }
    }

    /// Ends all work for the connection; called once, when ``login`` has ended.
    mutating func finish(_ closing: SessionAction.Closing?, _ actions: inout SessionActions) {
        if let last = login.lastActive { actions.append(.session(.keepRates(last.id, rates))) }
        unbind(&actions)
        if channel.joined != nil { actions.append(.channel(.leaveLocally)) }
        if mailbox?.poll.hasTimer == true { actions.append(.cancelPollTimer) }
        channel = SessionChannel()
        mailbox = nil
        calls.abandon()
        if let closing { actions.append(.close(closing)) }
    }

    /// Answers a call that has met a combination which the states exclude, and has the error logged.
    mutating func answerExcluded(_ ticket: CallTicket, _ what: String, _ actions: inout SessionActions) {
        actions.append(.logError(what))
        answered(ticket, .failure(.unavailable("the session")), &actions)
    }
}
