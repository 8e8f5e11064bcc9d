internal import SignalingProtocol

/// Finding a gateway, connecting, and reconnecting.
extension ClientStateMachine {
    mutating func start(now: Int64) -> [Action] {
        guard case .idle = state else { return [] }
        search.begin(now: now)
        return beginAttempt(now: now)
    }

    mutating func beginAttempt(now: Int64) -> [Action] {
        let attempt = search.nextAttempt()
        switch configuration.source {
        case .addresses(let known):
            search.found(known, isOrdered: false)
            return connectSomewhere(now: now)
        case .discovery:
            state = .discovering(since: now)
            return [.discover(attempt: attempt, channel: gatheringChannel)]
        }
    }

    mutating func discovered(_ found: [GatewayEndpoint], attempt: Int, now: Int64) -> [Action] {
        guard attempt == search.attempt, case .discovering = state else { return [] }
        search.found(found, isOrdered: gatheringChannel != nil)
        return connectSomewhere(now: now)
    }

    /// The channel at whose gateways the client wants to be: the one that it is in, or else
    /// the one that it is said to join.
    private var gatheringChannel: String? { membership.channel ?? configuration.channel }

    private mutating func connectSomewhere(now: Int64) -> [Action] {
        guard let chosen = search.choose(chance) else { return attemptFailed(now: now) }
        state = .connecting(since: now)
        return [.connect(attempt: search.attempt, chosen)]
    }

    mutating func connected(attempt: Int, now: Int64) -> [Action] {
        guard attempt == search.attempt, case .connecting = state else { return [] }
        state = .authenticating(since: now)
        let reading: [Action] = backlog.isReadingPaused ? [.setReading(false)] : []
        guard let session = sessionState.session else { return reading + [.send(ClientRequest.login(configuration))] }
        let (channel, after) = membership.resumePoint
        return reading + [.send(ClientRequest.resume(line: session.line, channel: channel, after: after))]
    }

    mutating func disconnected(attempt: Int, now: Int64) -> [Action] {
        guard attempt == search.attempt else { return [] }
        switch state {
        case .connecting, .authenticating: return attemptFailed(now: now)
        case .online: return connectionLost(now: now)
        case .loggingOut: return end(Self.loggedOutByUser)
        // The client itself has closed the connection.
        case .idle, .discovering, .waiting, .closed: return []
        }
    }

    /// Called when the connection of a working session is lost. The first attempt at another gateway follows after a
    /// short random pause, which keeps the clients of a failed gateway from reconnecting all at once.
    mutating func connectionLost(now: Int64) -> [Action] {
        let interrupted = SignalingError(.failed, .interrupted, "the connection was lost before the answer")
        let givenUp = calls.connectionLost().compactMap { $0.answered(.failure(interrupted)) }
        mailbox.connectionLost(now: now)
        search.abandonAttempt()
        search.begin(now: now)
        state = .waiting(until: now + chance(0...configuration.timing.backOff.milliseconds))
        return [.disconnect, .event(.reconnecting(attempt: 1))] + givenUp
    }

    /// Pauses before the next attempt, or gives up when the time or the number of attempts is exhausted.
    mutating func attemptFailed(now: Int64) -> [Action] {
        let timing = configuration.timing
        let pause = search.failed(timing, chance)
        let spent = now + pause - search.since
        if sessionState == .none {
            if search.failures > timing.loginRetries || spent >= timing.loginTime.milliseconds {
                let unreachable = SignalingError(.loginNetwork, .network, "no gateway could be reached")
                return end(search.lastRefusal ?? unreachable)
            }
            state = .waiting(until: now + pause)
            return [.disconnect]
        }
        if spent >= timing.resumeTime.milliseconds {
            return end(SignalingError(.logoutNetwork, .network, "the session could not be resumed in time"))
        }
        state = .waiting(until: now + pause)
        return [.disconnect, .event(.reconnecting(attempt: search.failures + 1))]
    }
}
