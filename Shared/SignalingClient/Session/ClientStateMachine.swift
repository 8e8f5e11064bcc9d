internal import SignalingProtocol
internal import SignalingWire

/// A client's life: finding a gateway, logging in, calls and events, resuming elsewhere, the end. Pure: time and chance
/// come in as arguments, what is to be done comes out as actions, in order.
struct ClientStateMachine: ~Copyable {
    enum State: Equatable {
        /// Not started. Goes to `discovering`, `closed`.
        case idle
        /// Asking where gateways are. Goes to `connecting`, `waiting`, `closed`.
        case discovering(since: Int64)
        /// Pausing before the next attempt. Goes to `discovering`, `connecting`, `closed`.
        case waiting(until: Int64)
        /// Connecting to a gateway. Goes to `authenticating`, `waiting`, `closed`.
        case connecting(since: Int64)
        /// The login or resume was sent. Goes to `online`, `waiting`, `closed`.
        case authenticating(since: Int64)
        /// The session works. Goes to `waiting`, `loggingOut`, `closed`.
        case online
        /// The logout was sent, as this call. Goes to `closed`.
        case loggingOut(since: Int64, call: Int64)
        /// The end.
        case closed
    }

    enum Action: Equatable {
        /// Ask where gateways are, then call `discovered`.
        case discover(attempt: Int)
        /// Connect, then call `connected`; when it fails or ends, `disconnected`.
        case connect(attempt: Int, GatewayEndpoint)
        /// Write one text frame.
        case send([UInt8])
        /// Close the connection, or stop connecting.
        case disconnect
        /// A call has its answer.
        case answer(call: Int64, Result<JSONValue, SignalingError>)
        /// Tell the app.
        case event(SignalingEvent)
    }

    struct Session: Equatable {
        var line: String
        var uid: UInt32
        var push: Bool
    }

    /// A row of attempts to log in or to resume.
    struct Attempts: Equatable {
        var since: Int64
        var failures = 0
    }

    let configuration: ClientConfiguration
    /// A random number within the range: pauses and the choice of a gateway.
    let chance: @Sendable (ClosedRange<Int64>) -> Int64
    var state = State.idle
    /// Numbers connections, so that what a former one reports is dropped.
    var attempt = 0
    var attempts = Attempts(since: 0)
    var session: Session?
    /// The cluster has lost the session, and a new one is to take its place.
    var isReplacing = false
    var endpoints: [GatewayEndpoint] = []
    var lastEndpoint: GatewayEndpoint?
    var lastRefusal: SignalingError?

    var calls = CallTable()
    var lastCall: Int64 = 0
    var mailbox = MailboxMark()
    /// The outstanding `user_getmsg`, acknowledgement or poll.
    var poll: Int64?
    /// The channel the client is in, as the app spells it.
    var channel: String?
    /// The last event seen, of any channel.
    var lastEvent: Int64 = 0
    /// The last event of the present channel; nil when there was none.
    var channelMark: Int64?

    var pings: Int64 = 0
    var unanswered = 0
    var nextPing: Int64 = 0
    /// The app takes no events just now, so that nothing is read, pongs neither.
    var isReadingPaused = false

    init(
        configuration: ClientConfiguration,
        chance: @escaping @Sendable (ClosedRange<Int64>) -> Int64 = { Int64.random(in: $0) }
    ) {
        self.configuration = configuration
        self.chance = chance
    }

    var status: ClientStatus {
        switch state {
        case .idle, .closed, .loggingOut: .loggedOut
        case .online: .online
        case .discovering, .waiting, .connecting, .authenticating:
            session == nil && !isReplacing ? .loggingIn : .reconnecting
        }
    }

    // MARK: - Finding and connecting

    mutating func start(now: Int64) -> [Action] {
        guard case .idle = state else { return [] }
        attempts = Attempts(since: now)
        return beginAttempt(now: now)
    }

    mutating func beginAttempt(now: Int64) -> [Action] {
        attempt += 1
        switch configuration.source {
        case .addresses(let known):
            endpoints = known
            return connectSomewhere(now: now)
        case .discovery:
            state = .discovering(since: now)
            return [.discover(attempt: attempt)]
        }
    }

    /// Discovery has answered; empty when it has not: then the gateways of the last answer are tried.
    mutating func discovered(_ found: [GatewayEndpoint], attempt: Int, now: Int64) -> [Action] {
        guard attempt == self.attempt, case .discovering = state else { return [] }
        if !found.isEmpty { endpoints = found }
        return connectSomewhere(now: now)
    }

    private mutating func connectSomewhere(now: Int64) -> [Action] {
        var choices = Array(Set(endpoints)).sorted { ($0.host, $0.port) < ($1.host, $1.port) }
        // The one that just failed is the last to try.
        if choices.count > 1 { choices.removeAll { $0 == lastEndpoint } }
        guard !choices.isEmpty else { return attemptFailed(now: now) }
        let chosen = choices[Int(chance(0...Int64(choices.count - 1)))]
        lastEndpoint = chosen
        state = .connecting(since: now)
        return [.connect(attempt: attempt, chosen)]
    }

    mutating func connected(attempt: Int, now: Int64) -> [Action] {
        guard attempt == self.attempt, case .connecting = state else { return [] }
        state = .authenticating(since: now)
        guard let session else { return [.send(ClientRequest.login(configuration))] }
        let after = channel == nil ? nil : channelMark
        return [.send(ClientRequest.resume(line: session.line, channel: channel, after: after))]
    }

    /// The connection ended, or could not be made.
    mutating func disconnected(attempt: Int, now: Int64) -> [Action] {
        guard attempt == self.attempt else { return [] }
        switch state {
        case .connecting, .authenticating: return attemptFailed(now: now)
        case .online: return lost(now: now)
        case .loggingOut: return end(Self.loggedOutByUser)
        // Our own doing.
        case .idle, .discovering, .waiting, .closed: return []
        }
    }

    /// The connection of a working session is gone: the first attempt elsewhere follows at once, spread by chance.
    mutating func lost(now: Int64) -> [Action] {
        let interrupted = SignalingError(.failed, "interrupted", "the connection was lost before the answer")
        let given: [Action] = calls.connectionLost().map { .answer(call: $0.id, .failure(interrupted)) }
        mailbox.connectionLost(now: now)
        poll = nil
        attempt += 1
        attempts = Attempts(since: now)
        state = .waiting(until: now + chance(0...configuration.timing.backOff.milliseconds))
        return [.disconnect, .event(.reconnecting(attempt: 1))] + given
    }

    /// Pauses before the next attempt, or gives up.
    mutating func attemptFailed(now: Int64) -> [Action] {
        let timing = configuration.timing
        attempts.failures += 1
        attempt += 1
        let shift = Int64(1) << Int64(min(attempts.failures - 1, 20))
        let limit = min(timing.backOffLimit.milliseconds, timing.backOff.milliseconds * shift)
        let pause = chance(0...limit)
        let spent = now + pause - attempts.since
        if session == nil, !isReplacing {
            if attempts.failures > timing.loginRetries || spent >= timing.loginTime.milliseconds {
                return end(lastRefusal ?? SignalingError(.loginNetwork, "network", "no gateway could be reached"))
            }
            state = .waiting(until: now + pause)
            return [.disconnect]
        }
        if spent >= timing.resumeTime.milliseconds {
            return end(SignalingError(.logoutNetwork, "network", "the session could not be resumed in time"))
        }
        state = .waiting(until: now + pause)
        return [.disconnect, .event(.reconnecting(attempt: attempts.failures + 1))]
    }

    /// The cluster has lost the session: the client logs in again, without a channel.
    mutating func logInAgain(now: Int64) -> [Action] {
        let interrupted = SignalingError(.failed, "interrupted", "the session was lost before the answer")
        let given: [Action] = calls.sessionLost().map { .answer(call: $0.id, .failure(interrupted)) }
        session = nil
        isReplacing = true
        return given + lost(now: now)
    }

    // MARK: - The end

    static let loggedOutByUser = SignalingError(.logoutUser, "logout", "logged out by the user")

    mutating func logOut(now: Int64) -> [Action] {
        switch state {
        case .idle, .closed, .loggingOut: return []
        case .online:
            guard let session else { return end(Self.loggedOutByUser) }
            var actions = acknowledge(now: now, force: true)
            lastCall += 1
            actions.append(.send(ClientRequest.call("user_logout", id: lastCall, line: session.line, [])))
            state = .loggingOut(since: now, call: lastCall)
            return actions
        case .discovering, .waiting, .connecting, .authenticating:
            if session != nil || isReplacing { return end(Self.loggedOutByUser) }
            return end(SignalingError(.loginCancelled, "cancelled", "logged out while logging in"))
        }
    }

    /// Ends without a word to the gateway: the session stays resumable there until its time is over.
    mutating func abandon() -> [Action] {
        if case .closed = state { return [] }
        return end(SignalingError(.logoutOther, "closed", "the client was closed"))
    }

    /// Ends the client: unanswered calls fail, the app hears why.
    mutating func end(_ error: SignalingError) -> [Action] {
        let wasLoggedIn = session != nil || isReplacing
        state = .closed
        session = nil
        attempt += 1
        var actions = [Action.disconnect]
        for call in calls.takeAll() {
            actions.append(
                .answer(call: call.id, .failure(SignalingError(.notLoggedIn, "logged_out", "the session is over"))))
        }
        actions.append(.event(wasLoggedIn ? .loggedOut(error) : .loginFailed(error)))
        return actions
    }
}
