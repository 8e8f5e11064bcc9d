package import Logging
package import NIOCore
internal import Synchronization

/// A pub/sub connection that renews itself and its subscriptions.
///
/// Pub/sub is at most once: after `onReconnected` the owner reads what it missed from the logs.
///
/// `@unchecked Sendable`: the state is used on ``eventLoop`` only; the flag is atomic.
package final class RedisSubscriber: @unchecked Sendable {
    private struct Waiter {
        let deadline: NIODeadline
        let completion: (Result<Void, RedisError>) -> Void
    }

    /// The loop of all calls and callbacks.
    package let eventLoop: any EventLoop
    private let configuration: RedisConfiguration
    private let link: RedisLink
    private let onMessage: (_ topic: String, _ payload: ByteBuffer) -> Void
    private let onBatchEnd: () -> Void
    private let onReconnected: () -> Void
    private let up = Atomic<Bool>(false)

    private var table = SubscriptionTable<Waiter>()
    private var outgoing = ByteBuffer()
    private var flushScheduled = false
    private var isClosed = false
    private var wasUpBefore = false
    private var isCatchingUp = false
    private var hasHeard = true
    private var lastHeard = NIODeadline.now()
    private var pingedAt: NIODeadline?
    private var timer: RepeatedTask?

    /// Makes a subscriber; ``start()`` opens it. All callbacks come on the loop.
    /// - Parameters:
    ///   - onMessage: a message of a wanted topic.
    ///   - onBatchEnd: all messages that one read of the socket brought were handed over.
    ///   - onReconnected: after an outage, everything is subscribed again; what was published meanwhile is lost.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, logger: Logger,
        onMessage: @escaping (_ topic: String, _ payload: ByteBuffer) -> Void,
        onBatchEnd: @escaping () -> Void = {}, onReconnected: @escaping () -> Void = {}
    ) {
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.onMessage = onMessage
        self.onBatchEnd = onBatchEnd
        self.onReconnected = onReconnected
        link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: [], asksTime: false, logger: logger)
    }

    /// Whether the connection stands and all wanted topics are subscribed. From any thread.
    package var isConnected: Bool { up.load(ordering: .acquiring) }

    /// Begins to connect, and keeps doing so until ``close()``. From any thread.
    package func start() {
        eventLoop.execute {
            self.link.start(owner: self)
            self.timer = self.eventLoop.scheduleRepeatedTask(
                initialDelay: .seconds(1), delay: .seconds(1)
            ) { _ in self.check() }
        }
    }

    /// Closes; who waits for a confirmation gets `CLOSED`. From any thread.
    package func close() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                self.isClosed = true
                self.timer?.cancel()
                self.link.close()
                for waiter in self.table.removeWaiters(where: { _ in true }) {
                    waiter.completion(.failure(.shutDown))
                }
                continuation.resume()
            }
        }
    }

    /// Wants a topic; on ``eventLoop`` only. Completes when the server confirmed it, `TIMEOUT` after the command timeout
    /// (the topic is still wanted then and is subscribed when Redis is back; ``unsubscribe(_:)`` gives it up), `FULL` at the
    /// bound of topics.
    package func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        eventLoop.assertInEventLoop()
        guard !isClosed else { return completion(.failure(.shutDown)) }
        guard table.wantedCount < configuration.maxTopics || table.isWanted(topic) else {
            return completion(.failure(.full("topics of a Redis subscriber", bound: configuration.maxTopics)))
        }
        let waiter = Waiter(deadline: .now() + configuration.commandTimeout, completion: completion)
        switch table.want(topic, isUp: link.isUp, waiter: waiter) {
        case .confirmed: completion(.success(()))
        case .wait: break
        case .subscribe:
            table.sent(topic)
            write(RedisCommand("SUBSCRIBE", .string(topic)))
        }
    }

    /// Wants a topic no more; on ``eventLoop`` only. No message of it is handed over from now on; who still waits for its
    /// confirmation gets `CLOSED`.
    package func unsubscribe(_ topic: String) {
        eventLoop.assertInEventLoop()
        guard let waiters = table.drop(topic) else { return }
        if link.isUp { write(RedisCommand("UNSUBSCRIBE", .string(topic))) }
        for waiter in waiters { waiter.completion(.failure(.shutDown)) }
    }

    private func write(_ command: RedisCommand) {
        command.encode(into: &outgoing)
        guard !flushScheduled else { return }
        flushScheduled = true
        eventLoop.execute {
            self.flushScheduled = false
            if self.link.isUp, self.outgoing.readableBytes > 0 { self.link.write(self.outgoing) }
            self.outgoing.clear()
        }
    }

    /// A half-open connection looks like a quiet one: ask, and if nothing at all comes back, begin anew.
    private func check() {
        let now = NIODeadline.now()
        for waiter in table.removeWaiters(where: { $0.deadline <= now }) { waiter.completion(.failure(.timeout)) }
        guard link.isUp else { return }
        if hasHeard {
            hasHeard = false
            lastHeard = now
            pingedAt = nil
        } else if let pingedAt {
            if now - pingedAt >= configuration.subscriberIdleTimeout { link.drop(.timeout) }
        } else if now - lastHeard >= configuration.subscriberIdleTimeout {
            pingedAt = now
            write(RedisCommand("PING"))
        }
    }
}

extension RedisSubscriber: RedisLinkOwner {
    func makeBuilder() -> ReplyBuilder {
        let builder = PushBuilder()
        builder.onMessage = { [unowned self] topic, payload in
            // A message on its way when the topic was given up concerns nobody.
            if table.isWanted(topic) { onMessage(topic, payload) }
        }
        builder.onConfirmation = { [unowned self] topic, subscribed in
            guard subscribed else { return }
            let waiters = table.confirmed(topic)
            // First, so that who hears of the confirmation finds the subscriber connected.
            caughtUp()
            for waiter in waiters { waiter.completion(.success(())) }
        }
        return builder
    }

    func linkUp() {
        hasHeard = true
        pingedAt = nil
        isCatchingUp = true
        var topics = table.wanted[...]
        // Some hundreds per command: few enough not to hold the server, many enough to be quick.
        while !topics.isEmpty {
            let some = topics.prefix(500)
            topics = topics.dropFirst(500)
            for topic in some { table.sent(topic) }
            write(RedisCommand("SUBSCRIBE", arguments: some.map { .string($0) }))
        }
        caughtUp()
    }

    func linkDown(_ error: RedisError) {
        up.store(false, ordering: .releasing)
        outgoing.clear()
        table.disconnected()
    }

    func linkReceived(_ reply: RedisValue) {
        // Only errors come outside of push messages, such as an ACL that forbids the topic: begin anew, and log it there.
        if case .error(let error) = reply { link.drop(error) }
    }

    func linkHeard(time: RedisValue, askedAt: ContinuousClock.Instant) {}

    func linkReadEnded() {
        hasHeard = true
        onBatchEnd()
    }

    private func caughtUp() {
        guard isCatchingUp, table.outstanding == 0 else { return }
        isCatchingUp = false
        up.store(true, ordering: .releasing)
        let isRenewal = wasUpBefore
        wasUpBefore = true
        if isRenewal { onReconnected() }
    }
}
