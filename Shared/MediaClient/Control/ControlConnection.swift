internal import NIOCore
internal import SignalingClient
internal import SignalingWire

/// A call's connection to a gateway, as its driver sees it.
protocol CallControl: AnyObject {
    var isOnline: Bool { get }

    func start()
    func stop()
    func call(_ call: ControlCall, _ completion: @escaping ControlConnection.Completion)
    func advance()
}

/// Performs the actions of a ``ControlMachine``. Bound to its event loop.
final class ControlConnection: CallControl {
    /// What the call is told.
    enum Notice {
        case online
        case noGateway
        case refused(MediaError)
        case channel(ChannelNotice)
    }

    typealias Completion = (Result<JSONValue, MediaError>) -> Void

    private let app: String
    private let source: GatewaySource
    private let eventLoop: any EventLoop
    private let bootstrap: LinkBootstrap
    private let link: GatewayLink<ControlMessage>
    private let onNotice: (Notice) -> Void
    private var machine: ControlMachine
    private var completions: [Int: Completion] = [:]
    private var lastTicket = 0

    init(
        app: String, source: GatewaySource, tls: ClientTLS, eventLoop: any EventLoop,
        onNotice: @escaping (Notice) -> Void
    ) {
        self.app = app
        self.source = source
        self.eventLoop = eventLoop
        self.onNotice = onNotice
        machine = ControlMachine(app: app, source: source)
        bootstrap = LinkBootstrap(eventLoop: eventLoop, tls: tls, timeout: ControlMachine.stepTime)
        link = GatewayLink(bootstrap) { try ControlMessage(decoding: $0) }
    }

    var isOnline: Bool { machine.isOnline }

    func start() { handle(.start) }

    /// Ends the connection; calls without an answer fail.
    func stop() { handle(.stop) }

    /// Calls a function of the gateway; the completion is called once, also when there is no connection.
    func call(_ call: ControlCall, _ completion: @escaping Completion) {
        lastTicket += 1
        completions[lastTicket] = completion
        handle(.call(call, ticket: lastTicket))
    }

    /// Does what is due. Called often: every few milliseconds.
    func advance() {
        if let due = machine.due, due <= now { handle(.tick) }
    }

    private var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

    private func handle(_ event: ControlMachine.Event) {
        for action in machine.handle(event, now: now) { perform(action) }
    }

    private func perform(_ action: ControlMachine.Action) {
        switch action {
        case .discover(let attempt): discover(attempt)
        case .connect(let attempt, let endpoint): connect(endpoint, attempt)
        case .send(let frame): link.send(frame)
        case .disconnect: link.disconnect()
        case .answer(let ticket, let answer): completions.removeValue(forKey: ticket)?(answer)
        case .notice(let notice): onNotice(.channel(notice))
        case .online: onNotice(.online)
        case .noGateway: onNotice(.noGateway)
        case .refused(let error): onNotice(.refused(error))
        }
    }

    private func discover(_ attempt: Int) {
        guard case .discovery(let texts) = source else { return }
        bootstrap.discover(texts, app: app, channel: nil).assumeIsolated().whenSuccess { [self] found in
            handle(.discovered(found, attempt: attempt))
        }
    }

    private func connect(_ endpoint: GatewayEndpoint, _ attempt: Int) {
        link.connect(to: endpoint, attempt: attempt) { [weak self] event in
            switch event {
            case .connected: self?.handle(.connected(attempt: attempt))
            case .received(let message): self?.handle(.received(message, attempt: attempt))
            case .disconnected: self?.handle(.disconnected(attempt: attempt))
            }
        }
    }
}
