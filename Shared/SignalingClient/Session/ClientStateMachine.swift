internal import SignalingProtocol
internal import SignalingWire

/// The life of a client: finding a gateway, logging in, calls and events, resuming on another gateway, the end.
///
/// Without I/O: events are passed to ``handle(_:now:)``, which returns the actions to perform, in order. Times are
/// milliseconds of any clock that does not go backwards.
struct ClientStateMachine: ~Copyable {
    enum State: Equatable {
        /// Not started. Goes to `discovering`, `connecting`, `waiting`, `closed`.
        case idle
        /// Asking where gateways are. Goes to `connecting`, `waiting`, `closed`.
        case discovering(since: Int64)
        /// Pausing before the next attempt. Goes to `discovering`, `connecting`, `closed`.
        case waiting(until: Int64)
        /// Connecting to a gateway. Goes to `authenticating`, `waiting`, `closed`.
        case connecting(since: Int64)
        /// The login or resume has been sent. Goes to `online`, `waiting`, `closed`.
        case authenticating(since: Int64)
        /// The session is usable. Goes to `waiting`, `loggingOut`, `closed`.
        case online
        /// The logout has been sent, as the call with this id. Goes to `closed`.
        case loggingOut(since: Int64, call: Int64)
        /// Ended.
        case closed
    }

    /// What happens to a client. `attempt` is the number from the action that is being reported on; reports on an
    /// earlier connection are recognised by it and ignored.
    enum Event {
        /// The app wants to be logged in.
        case start
        /// Discovery is done; empty when nothing answered.
        case discovered([GatewayEndpoint], attempt: Int)
        /// The connection is established.
        case connected(attempt: Int)
        /// The connection was closed, or could not be established.
        case disconnected(attempt: Int)
        /// The gateway sent a frame.
        case received(ServerMessage, attempt: Int)
        /// The app calls a function; answered exactly once, under the app's ticket.
        case call(ticket: Int64, function: String, arguments: [JSONMember])
        /// The app no longer waits for the answer to the call with this ticket.
        case cancelled(ticket: Int64)
        /// The app has taken events.
        case eventsTaken(Int)
        /// The app logs out.
        case logOut
        /// The app ends the client without informing the gateway; the session can still be resumed until it times out.
        case abandon
        /// The time returned by ``nextTick(now:)`` has come.
        case tick
    }

    /// What the driver must do.
    enum Action: Equatable {
        /// Ask where gateways are, of a channel's if one is given, then report `discovered`.
        case discover(attempt: Int, channel: String? = nil)
        /// Connect, then report `connected`; when it fails or ends, `disconnected`.
        case connect(attempt: Int, GatewayEndpoint)
        /// Write one text frame.
        case send([UInt8])
        /// Continue (true) or stop (false) reading from the connection.
        case setReading(Bool)
        /// Close the connection, or stop connecting.
        case disconnect
        /// Complete the app's call.
        case answer(ticket: Int64, Result<JSONValue, SignalingError>)
        /// Pass an event to the app.
        case event(SignalingEvent)
    }

    let configuration: ClientConfiguration
    /// Returns a random number within the range, for pauses and the choice of a gateway.
    let chance: @Sendable (ClosedRange<Int64>) -> Int64
    var state = State.idle
    var search = GatewaySearch()
    var sessionState = SessionState.none
    var calls = CallTable()
    var mailbox = ClientMailbox()
    var membership = ChannelMembership()
    var heartbeat = Heartbeat()
    var backlog: EventBacklog

    init(
        configuration: ClientConfiguration,
        chance: @escaping @Sendable (ClosedRange<Int64>) -> Int64 = { Int64.random(in: $0) }
    ) {
        self.configuration = configuration
        self.chance = chance
        backlog = EventBacklog(bound: configuration.eventBound)
    }

    /// Handles an event.
    /// - Returns: the actions to perform, in order.
    mutating func handle(_ event: Event, now: Int64) -> [Action] {
        var actions = react(to: event, now: now)
        let told = actions.reduce(0) { $0 + ($1.isEvent ? 1 : 0) }
        if backlog.told(told) { actions.append(.setReading(false)) }
        return actions
    }

    private mutating func react(to event: Event, now: Int64) -> [Action] {
        switch event {
        case .start: return start(now: now)
        case .discovered(let found, let attempt): return discovered(found, attempt: attempt, now: now)
        case .connected(let attempt): return connected(attempt: attempt, now: now)
        case .disconnected(let attempt): return disconnected(attempt: attempt, now: now)
        case .received(let message, let attempt):
            return attempt == search.attempt ? received(message, now: now) : []
        case .call(let ticket, let function, let arguments):
            return call(function, arguments, ticket: ticket, now: now)
        case .cancelled(let ticket): return cancelled(ticket: ticket, now: now)
        case .eventsTaken(let count): return backlog.taken(count) ? [.setReading(true)] : []
        case .logOut: return logOut(now: now)
        case .abandon: return abandon()
        case .tick: return tick(now: now)
        }
    }

    /// The client's state as the app sees it.
    var status: ClientStatus {
        switch state {
        case .idle, .closed, .loggingOut: .loggedOut
        case .online: .online
        case .discovering, .waiting, .connecting, .authenticating: sessionState == .none ? .loggingIn : .reconnecting
        }
    }
}

extension ClientStateMachine.Action {
    fileprivate var isEvent: Bool {
        if case .event = self { true } else { false }
    }
}
