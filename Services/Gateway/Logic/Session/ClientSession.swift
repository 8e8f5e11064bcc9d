internal import DequeModule
package import SignalingProtocol
internal import SignalingWire

/// One client's connection and the session that it carries: the login, the order of its calls, its mailbox, and its place in
/// a channel.
///
/// ``handle(_:_:)`` is the only entrance: an event in, actions out. Its driver (`ClientConnection`) performs the actions and
/// decides nothing. What has no entrance is the way of a channel's events to the many: the channel's fan-out asks
/// ``membership`` what a member is shown, once a batch.
package struct ClientSession: ~Copyable {
    /// Where the connection is between its first frame and its end.
    var login = ConnectionStateMachine()
    var calls = CallPipeline(held: false)
    var mailbox: MailboxStateMachine?
    var poll = PollState.none
    /// Entries to be pushed when the client has taken what waits for it.
    var unsentPushes: Deque<MailboxEntry> = []
    /// How often the session may act.
    package internal(set) var rates = SessionRates()
    /// The app's, from the login or resume on.
    package var limits: AppLimits { rates.limits }
    /// Whether ``limits`` are the app's own.
    var knowsLimits = false
    /// The session that was last active here.
    private(set) package var lastActive: ActiveSession?
    /// The session's line as the client sends it with every call; empty before calls are taken.
    package internal(set) var lineText = ""
    /// The session that the gateway knows under this connection.
    var boundSession: SessionID?
    /// The logout that is under way.
    @Rarely var logout: CallTurn?
    /// In which channel the session is, as channel-state has told.
    package internal(set) var place = ChannelPlace()
    /// The channel whose events come here.
    package internal(set) var channel: ChannelKey?
    /// What the client is shown of ``channel``.
    package var membership: Membership?
    /// The last `channel2` id that was written to the client.
    package var lastEventID: Int64 = 0
    var change = ChannelChange.none
    /// Why a channel's log is being read, and under which number.
    @Rarely var logRead: (number: Int, purpose: LogPurpose)?
    @Rarely var replay: ChannelReplay?
    @Rarely var settlement: JoinSettlement?
    /// The last number that told a log's read, or a settlement, from others.
    var lastNumber = 0
    /// The last `channel2` id that a resuming client saw, when it asks for what it missed.
    var resumeAfter: Int64?
    var isReadingPaused = false
    /// Whether the connection is closed, or about to be: nothing is done for it any more.
    package internal(set) var isOver = false

    /// A connection on which nothing was said.
    package init() {}

    /// The session, while it may act.
    package var active: ActiveSession? { login.isActive ? lastActive : nil }

    /// The session as its gateway tells of it, while it may act.
    package var held: ConnectionStateMachine.Session? { login.activeSession }

    /// Whether the session may act.
    package var isActive: Bool { login.isActive }

    /// Whether no login was tried yet.
    package var isFresh: Bool { login.isFresh }

    /// Whether a step of ``SessionEvent/goOn`` can be done: what waited for the client or for its turn goes on.
    package var canGoOn: Bool {
        guard !isOver else { return false }
        return calls.mayStartNext || (!calls.isPaused && (replay != nil || !unsentPushes.isEmpty))
    }

    /// Takes an event.
    /// - Returns: what is to be done about it, in this order.
    package mutating func handle(
        _ event: SessionEvent, _ environment: any SessionEnvironment
    ) -> SessionActions {
        var actions = SessionActions()
        switch event {
        case .frame(let frame, let bytes, let time):
            received(frame, bytes: bytes, at: time, environment, &actions)
        case .login(let request, let isAllowed): logIn(request, isAllowed: isAllowed, &actions)
        case .output(let isPaused): outputChanged(isPaused: isPaused, &actions)
        case .connectionLost: lose(nil, &actions)
        case .close(let closing): lose(closing, &actions)
        case .appAnswered(let answer, let session, let secret):
            if case .success(let settings) = answer { adopt(settings.limits) }
            let action = login.appAnswered(answer, now: environment.unixTime) {
                Line(user: $0, session: session, secret: secret)
            }
            take(action, &actions)
        case .limits(let limits): adopt(limits)
        case .opened(let answer): take(login.opened(answer), &actions)
        case .resumed(let answer): take(login.resumed(answer), &actions)
        case .ratesTaken(let left): goOnResuming(left, environment, &actions)
        case .loggedOut(let turn, let error): loggedOut(turn, error, &actions)
        case .superseded(let ending): superseded(ending, &actions)
        case .end(let code): endSession(code, &actions)
        case .tokenCheck: endIfExpired(environment, &actions)
        case .answered(let turn, let result): answered(turn, result, &actions)
        case .messageAnswered(let turn, let error, let name): messageAnswered(turn, error, in: name, &actions)
        case .goOn: goOn(environment, &actions)
        case .mail, .resynchronizeMailbox, .mailboxIs, .mailboxLoaded, .mailboxLoadDue, .mailboxNotCleared,
            .pollTimerFired:
            handleMailbox(event, environment, &actions)
        case .subscribed, .joined, .left, .logRead, .joinUndone, .membershipTold, .settlementDue:
            handleChannel(event, &actions)
        }
        return actions
    }

    private mutating func received(
        _ frame: ClientFrame, bytes: Int, at time: UInt64, _ environment: any SessionEnvironment,
        _ actions: inout SessionActions
    ) {
        guard !isOver else { return }
        switch frame {
        case .ping(let number): actions.append(.send(ServerFrame.pong(number), isAnswer: false))
        case .login(let request): logIn(request, isAllowed: true, &actions)
        case .lineLogin(let request): resume(request, &actions)
        case .call(let request): received(request, bytes: bytes, at: time, environment, &actions)
        }
    }

    private mutating func outputChanged(isPaused: Bool, _ actions: inout SessionActions) {
        guard !isOver else { return }
        calls.isPaused = isPaused
        regulateReading(&actions)
        if canGoOn { actions.append(.goOn) }
    }

    /// One step of what waited. Each may pause what follows, when the client does not take it at once.
    private mutating func goOn(_ environment: any SessionEnvironment, _ actions: inout SessionActions) {
        guard !isOver else { return }
        if !calls.isPaused, replay != nil { return continueReplay(&actions) }
        if !calls.isPaused, let entry = unsentPushes.popFirst() {
            return actions.append(.send(ServerFrame.pushMessage(entry), isAnswer: false))
        }
        if let next = calls.next() { start(next, isNew: false, environment, &actions) }
        regulateReading(&actions)
    }

    /// Reads from the client or not, as calls and answers wait or not.
    mutating func regulateReading(_ actions: inout SessionActions) {
        let bound = calls.isHolding ? Limits.heldCallBytes : Limits.waitingCallBytes
        let pauses = calls.isPaused || calls.waitingBytes >= bound
        guard !isOver, pauses != isReadingPaused else { return }
        isReadingPaused = pauses
        if pauses { actions.append(.count(.readingPaused)) }
        actions.append(.setReading(!pauses))
    }

    mutating func adopt(_ limits: AppLimits) {
        knowsLimits = true
        rates.adopt(limits)
    }

    mutating func becomes(_ active: ActiveSession) { lastActive = active }

    func send(_ frame: [UInt8], isAnswer: Bool = false, _ actions: inout SessionActions) {
        actions.append(.send(frame, isAnswer: isAnswer))
    }

    // MARK: - The end

    /// The connection is gone, or goes, and the session lives on.
    mutating func lose(_ closing: SessionAction.Closing?, _ actions: inout SessionActions) {
        guard !isOver else { return }
        if case .detach(let session) = login.connectionLost() { detach(session, &actions) }
        finish(closing, &actions)
    }

    mutating func detach(_ session: ConnectionStateMachine.Session, _ actions: inout SessionActions) {
        unbind(&actions)
        actions.append(.detach(session.line.session, session.user))
    }

    private mutating func unbind(_ actions: inout SessionActions) {
        if let boundSession { actions.append(.unbind(boundSession)) }
        boundSession = nil
    }

    /// Nothing is done for the connection from now on.
    mutating func finish(_ closing: SessionAction.Closing?, _ actions: inout SessionActions) {
        guard !isOver else { return }
        isOver = true
        if let lastActive { actions.append(.keepRates(lastActive.actor.session)) }
        unbind(&actions)
        if channel != nil { actions.append(.leaveLocally) }
        if poll.hasTimer { actions.append(.cancelPollTimer) }
        channel = nil
        membership = nil
        poll = .none
        calls.abandon()
        unsentPushes = []
        replay = nil
        logout = nil
        settlement = nil
        if let closing { actions.append(.close(closing)) }
    }
}
