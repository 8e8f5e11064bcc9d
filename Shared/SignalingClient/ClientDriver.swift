internal import NIOCore
internal import NIOPosix
internal import SignalingProtocol
internal import SignalingWire

/// Performs what ``ClientStateMachine`` decides.
///
/// `@unchecked Sendable`: everything but the constants is touched on `eventLoop` only; what may be called from elsewhere
/// hops there first, which keeps the order of the calls of one thread.
final class ClientDriver: @unchecked Sendable {
    typealias Completion = @Sendable (Result<JSONValue, SignalingError>) -> Void

    let eventLoop: any EventLoop
    let configuration: ClientConfiguration
    /// Takes events, on the event loop, in order with the completions; each must be followed by ``consumed(_:)``.
    private let sink: @Sendable (SignalingEvent) -> Void
    private let bootstrap: LinkBootstrap

    private var machine: ClientStateMachine
    private var link: Link?
    private var completions: [Int64: Completion] = [:]
    private var timer: (due: Int64, task: Scheduled<Void>)?
    /// Events that the app has not taken yet.
    private var pendingEvents = 0
    /// Keeps the driver alive while it works.
    private var ownself: ClientDriver?

    init(
        configuration: ClientConfiguration,
        eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        sink: @escaping @Sendable (SignalingEvent) -> Void
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.sink = sink
        machine = ClientStateMachine(configuration: configuration)
        bootstrap = LinkBootstrap(
            eventLoop: eventLoop, tls: configuration.tls,
            timeout: .milliseconds(configuration.timing.stepTime.milliseconds))
    }

    // MARK: - From anywhere

    func start() {
        run { driver in
            driver.ownself = driver
            driver.perform(driver.machine.start(now: driver.now))
        }
    }

    /// Makes a call; the completion comes once, on the event loop.
    func call(_ function: String, _ arguments: [JSONMember], _ completion: @escaping Completion) {
        call(function, arguments, number: { _ in }, completion: completion)
    }

    /// Makes a call, and tells its number, for ``cancel(_:)``, before the completion can come.
    func call(
        _ function: String, _ arguments: [JSONMember], number: @escaping @Sendable (Int64) -> Void,
        completion: @escaping Completion
    ) {
        run { driver in
            let (id, actions) = driver.machine.call(function, arguments, now: driver.now)
            driver.completions[id] = completion
            number(id)
            driver.perform(actions)
        }
    }

    /// Gives a call up: it is answered with `cancelled`.
    func cancel(_ id: Int64) {
        run { $0.perform($0.machine.cancel(id, now: $0.now)) }
    }

    /// Logs out; the last event tells when it is done.
    func logOut() {
        run { $0.perform($0.machine.logOut(now: $0.now)) }
    }

    /// Ends at once, without a word to the gateway.
    func abandon() {
        run { $0.perform($0.machine.abandon()) }
    }

    /// The app has taken events.
    func consumed(_ count: Int) {
        run { driver in
            driver.pendingEvents -= count
            guard driver.machine.isReadingPaused, driver.pendingEvents <= driver.configuration.eventBound / 2 else {
                return
            }
            driver.setReadingPaused(false)
        }
    }

    /// What the client is doing; asked on the event loop.
    func withStatus(_ body: @escaping @Sendable (ClientStatus) -> Void) {
        run { body($0.machine.status) }
    }

    /// The gateway in use, or tried last; asked on the event loop.
    func withGateway(_ body: @escaping @Sendable (GatewayEndpoint?) -> Void) {
        run { body($0.machine.lastEndpoint) }
    }

    private func run(_ body: @escaping @Sendable (ClientDriver) -> Void) {
        eventLoop.execute { body(self) }
    }

    // MARK: - On the event loop

    private var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

    private func perform(_ actions: [ClientStateMachine.Action]) {
        for action in actions {
            switch action {
            case .discover(let attempt): discover(attempt)
            case .connect(let attempt, let endpoint): connect(endpoint, attempt)
            case .send(let frame): link?.send(frame)
            case .disconnect:
                let old = link
                link = nil
                old?.close()
            case .answer(let call, let answer): completions.removeValue(forKey: call)?(answer)
            case .event(let event): tell(event)
            }
        }
        schedule()
        if case .closed = machine.state { ownself = nil }
    }

    private func tell(_ event: SignalingEvent) {
        pendingEvents += 1
        if pendingEvents >= configuration.eventBound, !machine.isReadingPaused { setReadingPaused(true) }
        sink(event)
    }

    private func setReadingPaused(_ paused: Bool) {
        machine.isReadingPaused = paused
        link?.setReading(!paused)
    }

    private func connect(_ endpoint: GatewayEndpoint, _ attempt: Int) {
        let connecting = bootstrap.connect(to: endpoint) { [self] in
            let link = Link(
                onText: { [self] in received($0, attempt) },
                onClose: { [self] in perform(machine.disconnected(attempt: attempt, now: now)) })
            if attempt == machine.attempt { self.link = link }
            return link
        }
        connecting.whenComplete { [self] result in
            switch result {
            case .success:
                if machine.isReadingPaused { link?.setReading(false) }
                perform(machine.connected(attempt: attempt, now: now))
            case .failure:
                perform(machine.disconnected(attempt: attempt, now: now))
            }
        }
    }

    private func received(_ text: ByteBuffer, _ attempt: Int) {
        do {
            perform(
                machine.received(try ServerMessage(decoding: text.readableBytesView), attempt: attempt, now: now))
        } catch {
            // A gateway that breaks the protocol: another connection may do better.
            link?.close()
        }
    }

    private func discover(_ attempt: Int) {
        guard case .discovery(let texts) = configuration.source else { return }
        ask(texts.compactMap { try? DiscoveryURL($0) }.shuffled()[...], attempt)
    }

    /// Asks one URL after the other until one answers.
    private func ask(_ urls: ArraySlice<DiscoveryURL>, _ attempt: Int) {
        guard let url = urls.first else {
            return perform(machine.discovered([], attempt: attempt, now: now))
        }
        DiscoveryRequest.ask(url, app: configuration.app, over: bootstrap).whenSuccess { [self] found in
            guard found.isEmpty else { return perform(machine.discovered(found, attempt: attempt, now: now)) }
            ask(urls.dropFirst(), attempt)
        }
    }

    /// Has the machine called in time.
    private func schedule() {
        guard let due = machine.nextTick(now: now) else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer, timer.due <= due { return }
        timer?.task.cancel()
        let task = eventLoop.scheduleTask(in: .milliseconds(max(due - now, 1))) { [self] in
            timer = nil
            perform(machine.tick(now: now))
        }
        timer = (due, task)
    }
}
