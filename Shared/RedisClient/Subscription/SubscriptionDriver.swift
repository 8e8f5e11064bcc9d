internal import NIOCore
internal import Synchronization

/// The topics of a ``RedisSubscriber`` and its socket: carries out what ``SubscriptionTable`` decides.
///
/// Belongs to the subscriber's event loop; everything here runs on it.
final class SubscriptionDriver {
    struct Waiter {
        let deadline: NIODeadline
        let completion: (Result<Void, RedisError>) -> Void
    }

    private let eventLoop: any EventLoop
    private let configuration: RedisConfiguration
    private var link: RedisLink
    private let status: ConnectionStatus
    private let callbacks: RedisSubscriber.Callbacks

    private var table = SubscriptionTable<Waiter>()
    private var outgoing = ByteBuffer()
    private var flushScheduled = false
    private var isClosed = false
    private var wasUpBefore = false
    /// Whether a new connection still waits for the confirmation of its topics.
    private var isCatchingUp = false
    private var watch = SilenceWatch()
    private var timer: RepeatedTask?

    init(link: RedisLink, status: ConnectionStatus, callbacks: RedisSubscriber.Callbacks) {
        configuration = link.configuration
        self.link = link
        eventLoop = link.eventLoop
        self.status = status
        self.callbacks = callbacks
    }

    func start() {
        link.start(owner: self)
        startChecks()
    }

    /// Begins without a connection, until ``move(to:)`` says where.
    func startChecks() {
        let driver = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            driver.value.check()
        }
    }

    /// Uses another server from now on: the present connection is closed at once, and all topics are subscribed there.
    func move(to new: RedisLink) {
        guard !isClosed else { return }
        link.close()
        link = new
        link.start(owner: self)
    }

    /// Reconnects.
    func drop(_ error: RedisError) { link.drop(error) }

    func close() {
        isClosed = true
        timer?.cancel()
        link.close()
        for waiter in table.removeWaiters(where: { _ in true }) { waiter.completion(.failure(.shutDown)) }
    }

    /// See ``RedisSubscriber/subscribe(_:_:)``.
    func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        guard !isClosed else { return completion(.failure(.shutDown)) }
        guard table.wantedCount < configuration.maxTopics || table.isWanted(topic) else {
            return completion(.failure(.full("topics of a Redis subscriber", bound: configuration.maxTopics)))
        }
        let waiter = Waiter(deadline: .now() + TimeAmount(configuration.commandTimeout), completion: completion)
        switch table.want(topic, isUp: link.isUp, waiter: waiter) {
        case .confirmed: completion(.success(()))
        case .wait: break
        case .subscribe:
            table.sent(topic)
            write(RedisCommand("SUBSCRIBE", .string(topic)))
        }
    }

    /// See ``RedisSubscriber/unsubscribe(_:)``.
    func unsubscribe(_ topic: String) {
        guard let waiters = table.drop(topic) else { return }
        if link.isUp { write(RedisCommand("UNSUBSCRIBE", .string(topic))) }
        for waiter in waiters { waiter.completion(.failure(.shutDown)) }
    }

    private func write(_ command: RedisCommand) {
        command.encode(into: &outgoing)
        guard !flushScheduled else { return }
        flushScheduled = true
        eventLoop.assumeIsolated().execute {
            self.flushScheduled = false
            if self.link.isUp, self.outgoing.readableBytes > 0 { self.link.write(self.outgoing) }
            self.outgoing.clear()
        }
    }

    /// Sends PING after some silence, and reconnects when nothing at all comes back.
    private func check() {
        let now = NIODeadline.now()
        for waiter in table.removeWaiters(where: { $0.deadline <= now }) { waiter.completion(.failure(.timeout)) }
        guard link.isUp else { return }
        switch watch.check(now, silence: TimeAmount(configuration.subscriberIdleTimeout)) {
        case .nothing: break
        case .ping: write(RedisCommand("PING"))
        case .reconnect: link.drop(.timeout)
        }
    }
}

extension SubscriptionDriver: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder {
        let builder = PushBuilder()
        builder.onMessage = { [unowned self] topic, payload in
            // Messages may still arrive after UNSUBSCRIBE has been sent.
            if table.isWanted(topic) { callbacks.onMessage(topic, payload) }
        }
        // Held by the socket's own handler too. What a socket has read is parsed to the end, even
        // if the link is left meanwhile.
        let link = link
        builder.onConfirmation = { [unowned self] topic, subscribed in
            guard subscribed, self.link === link else { return }
            let waiters = table.confirmed(topic)
            // Before the waiters, so that they find the subscriber connected.
            caughtUp()
            for waiter in waiters { waiter.completion(.success(())) }
        }
        return builder
    }

    func linkUp() {
        watch.connected()
        isCatchingUp = true
        var topics = table.wanted[...]
        // Topics per command: few enough not to block the server for long, enough to resubscribe quickly.
        while !topics.isEmpty {
            let some = topics.prefix(500)
            topics = topics.dropFirst(500)
            for topic in some { table.sent(topic) }
            write(RedisCommand("SUBSCRIBE", arguments: some.map { .string($0) }))
        }
        caughtUp()
    }

    func linkDown(_ error: RedisError) {
        status.isUp.store(false, ordering: .releasing)
        outgoing.clear()
        table.disconnected()
    }

    func linkReceived(_ reply: RedisValue) {
        // Anything but a push message is an error, such as an ACL that forbids the topic: reconnect, which logs it.
        if case .error(let error) = reply { link.drop(error) }
    }

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) {}

    func linkReadEnded() {
        watch.heard()
        callbacks.onBatchEnd()
    }

    private func caughtUp() {
        guard isCatchingUp, table.outstanding == 0 else { return }
        isCatchingUp = false
        status.isUp.store(true, ordering: .releasing)
        let isRenewal = wasUpBefore
        wasUpBefore = true
        if isRenewal { callbacks.onReconnected() }
    }
}
