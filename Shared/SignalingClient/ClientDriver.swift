internal import NIOCore
internal import SignalingProtocol
internal import SignalingWire

/// Performs the actions of a ``ClientStateMachine``: connects, writes, runs the timer, delivers answers and events.
///
/// Bound to its event loop, and not Sendable, so that the compiler keeps it there; other threads use ``ClientHandle``.
/// Its timer or its connection keeps it alive until the machine has ended.
final class ClientDriver {
    typealias Completion = @Sendable (Result<JSONValue, SignalingError>) -> Void

    private let eventLoop: any EventLoop
    private let configuration: ClientConfiguration
    private let bootstrap: LinkBootstrap
    private let link: GatewayLink<ServerMessage>
    private var machine: ClientStateMachine
    private var completions: [Int64: Completion] = [:]
    private var timer: (due: Int64, task: Scheduled<Void>)?
    /// Receives the events, in order with the completions of calls; nil after the last event.
    private var sink: (@Sendable (SignalingEvent) -> Void)?

    init(
        configuration: ClientConfiguration, eventLoop: any EventLoop, sink: @escaping @Sendable (SignalingEvent) -> Void
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.sink = sink
        machine = ClientStateMachine(configuration: configuration)
        bootstrap = LinkBootstrap(
            eventLoop: eventLoop, tls: configuration.tls,
            timeout: configuration.timing.stepTime)
        link = GatewayLink(bootstrap) { try ServerMessage(decoding: $0) }
    }

    var status: ClientStatus { machine.status }

    /// The gateway in use, or the last one that was tried.
    var gateway: GatewayEndpoint? { machine.search.current }

    /// Passes an event to the machine and performs the resulting actions.
    func handle(_ event: ClientStateMachine.Event) {
        for action in machine.handle(event, now: now) { perform(action) }
        schedule()
    }

    /// Calls a function of the gateway.
    /// - Parameters:
    ///   - ticket: a number that no other call of this client has.
    ///   - completion: called once, on the event loop.
    func call(_ function: String, _ arguments: [JSONMember], ticket: Int64, _ completion: @escaping Completion) {
        completions[ticket] = completion
        handle(.call(ticket: ticket, function: function, arguments: arguments))
    }

    private var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

    private func perform(_ action: ClientStateMachine.Action) {
        switch action {
        case .discover(let attempt, let channel): discover(channel, attempt)
        case .connect(let attempt, let endpoint): connect(endpoint, attempt)
        case .send(let frame): link.send(frame)
        case .setReading(let reading): link.setReading(reading)
        case .disconnect: link.disconnect()
        case .answer(let ticket, let answer): completions.removeValue(forKey: ticket)?(answer)
        case .event(let event):
            sink?(event)
            if event.isLast { sink = nil }
        }
    }

    // MARK: - Connections

    private func connect(_ endpoint: GatewayEndpoint, _ attempt: Int) {
        link.connect(to: endpoint, attempt: attempt) { [self] event in
            switch event {
            case .connected: handle(.connected(attempt: attempt))
            case .received(let message): handle(.received(message, attempt: attempt))
            case .disconnected: handle(.disconnected(attempt: attempt))
            }
        }
    }

    private func discover(_ channel: String?, _ attempt: Int) {
        guard case .discovery(let texts) = configuration.source else { return }
        bootstrap.discover(texts, app: configuration.app, channel: channel).assumeIsolated().whenSuccess {
            [self] found in
            handle(.discovered(found, attempt: attempt))
        }
    }

    // MARK: - Time

    /// Sets the timer for the machine's next tick.
    private func schedule() {
        guard let due = machine.nextTick(now: now) else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer, timer.due <= due { return }
        timer?.task.cancel()
        let task = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(max(due - now, 1))) { [self] in
            timer = nil
            handle(.tick)
        }
        timer = (due, task)
    }
}

extension SignalingEvent {
    /// Whether no further event follows this one.
    var isLast: Bool {
        switch self {
        case .loginFailed, .loggedOut: true
        case .loggedIn, .reconnecting, .reconnected, .message, .channelMessage, .memberJoined, .memberLeft,
            .channelAttribute, .channelLeft, .call:
            false
        }
    }
}
