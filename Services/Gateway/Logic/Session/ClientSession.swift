internal import DequeModule
package import SignalingProtocol
internal import SignalingWire

/// One client's connection and the session on it: the login, the order of its calls, its mailbox, and its place in a
/// channel.
///
/// All events enter through ``handle(_:_:)``, which returns actions for the driver (`ClientConnection`) to perform. Of
/// its own accord the driver only closes connections: idle ones, and those whose input or output exceeds a bound.
///
/// Channel events are passed in only if they need a decision: ``SessionAction/showAll(after:)`` sets the id above which
/// the channel's fan-out sends them to the client by itself.
package struct ClientSession: ~Copyable {
    /// The state of the login, from the connection's first frame to its end.
    var login = ConnectionStateMachine()
    var calls = CallPipeline(held: false)
    var mailbox: MailboxStateMachine?
    var poll = PollState.none
    /// Mailbox entries to push when the client has read what waits for it.
    var unsentPushes: Deque<MailboxEntry> = []
    /// The session's rate limits.
    package internal(set) var rates = SessionRates()
    /// The app's limits, from the login or resume on.
    package var limits: AppLimits { rates.limits }
    /// Whether ``limits`` are the app's own, not the defaults.
    var knowsLimits = false
    /// The latest session that was active on this connection.
    private(set) package var lastActive: ActiveSession?
    /// The session's line as the client must send it with every call; empty before calls are accepted.
    package internal(set) var lineText = ""
    /// The session that the gateway has registered for this connection.
    var boundSession: SessionID?
    /// The logout in progress, if any.
    @Rarely var logout: CallTurn?
    /// The channel that the session is in, as known from channel-state.
    package internal(set) var place = ChannelPlace()
    /// The channel whose events this connection receives.
    package internal(set) var channel: ChannelKey?
    /// Which events of ``channel`` the client receives.
    var membership: Membership?
    var change = ChannelChange.none
    /// The number and purpose of the read of a channel's log that is in progress.
    @Rarely var logRead: (number: Int, purpose: LogPurpose)?
    @Rarely var replay: ChannelReplay?
    @Rarely var settlement: JoinSettlement?
    /// The last number given to a log read or a settlement. The number assigns a reply to its request.
    var lastNumber = 0
    /// The last `channel2` id that a resuming client has received; nil when it does not request missed events.
    var resumeAfter: Int64?
    var isReadingPaused = false
    /// Whether the connection is closed or about to be; nothing is done for it any more.
    package internal(set) var isOver = false

    /// Creates a connection on which nothing was received yet.
    package init() {}

    /// The session, while it may make calls.
    package var active: ActiveSession? { login.isActive ? lastActive : nil }

    /// The session as reported in a reassertion, while it may make calls.
    package var held: ConnectionStateMachine.Session? { login.activeSession }

    /// Whether the session may make calls.
    package var isActive: Bool { login.isActive }

    /// Whether no login was attempted yet.
    package var isFresh: Bool { login.isFresh }

    /// Whether ``SessionEvent/goOn`` would do something: a waiting push, replay or call may proceed.
    package var canGoOn: Bool {
        guard !isOver else { return false }
        return calls.mayStartNext || (!calls.isPaused && (replay != nil || !unsentPushes.isEmpty))
    }

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
        case .output(let isPaused): outputChanged(isPaused: isPaused, &actions)
        case .connectionLost: lose(nil, &actions)
        case .close(let closing): lose(closing, &actions)
        case .appAnswered(let answer, let session, let secret):
            if case .success(let settings) = answer { adopt(settings.limits) }
            take(login.appAnswered(answer, session: session, secret: secret, now: environment.unixTime), &actions)
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
        case .subscribed, .joined, .left, .published, .logRead, .joinUndone, .membershipTold, .settlementDue:
            handleChannel(event, &actions)
        }
        return actions
    }

    private mutating func received(
        _ frame: ClientFrame, bytes: Int, at time: LocalTime, _ environment: any SessionEnvironment,
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

    /// Performs one step of the waiting work. Each step may pause the next one, if the client does not read fast
    /// enough.
    private mutating func goOn(_ environment: any SessionEnvironment, _ actions: inout SessionActions) {
        guard !isOver else { return }
        if !calls.isPaused, replay != nil { return continueReplay(&actions) }
        if !calls.isPaused, let entry = unsentPushes.popFirst() {
            return actions.append(.send(ServerFrame.pushMessage(entry), isAnswer: false))
        }
        if let next = calls.next() { start(next, isNew: false, environment, &actions) }
        regulateReading(&actions)
    }

    /// Starts or stops reading from the client, depending on how many calls and answers wait.
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

    /// Handles the loss of the connection: the session stays alive without one.
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

    /// Ends all work for the connection.
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
