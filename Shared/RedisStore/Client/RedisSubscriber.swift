package import Logging
package import NIOCore
internal import Synchronization

/// A pub/sub connection that renews itself and its subscriptions.
///
/// Pub/sub is at most once: after `onReconnected` the owner reads what it missed from the logs.
///
/// Topics and socket belong to ``eventLoop``: ``SubscriptionDriver`` is reached through a box that checks it.
package final class RedisSubscriber: Sendable {
    /// The loop of all calls and callbacks.
    package let eventLoop: any EventLoop
    private let status = ConnectionStatus()
    private let driver: NIOLoopBoundBox<SubscriptionDriver>

    /// Makes a subscriber on its loop, for an owner that is isolated to that loop: what the owner's closures touch needs no
    /// further check. As ``init(configuration:eventLoop:logger:onMessage:onBatchEnd:onReconnected:)`` for the rest.
    package init(
        configuration: RedisConfiguration, onLoop eventLoop: any EventLoop, logger: Logger,
        onMessage: @escaping (_ topic: String, _ payload: ByteBuffer) -> Void,
        onBatchEnd: @escaping () -> Void, onReconnected: @escaping () -> Void
    ) {
        self.eventLoop = eventLoop
        let link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: [], asksTime: false, logger: logger)
        driver = NIOLoopBoundBox(
            SubscriptionDriver(
                configuration: configuration, link: link, status: status,
                callbacks: .init(onMessage: onMessage, onBatchEnd: onBatchEnd, onReconnected: onReconnected)),
            eventLoop: eventLoop)
    }

    /// Makes a subscriber, from any thread; ``start()`` opens it. All callbacks come on the loop.
    /// - Parameters:
    ///   - onMessage: a message of a wanted topic.
    ///   - onBatchEnd: all messages that one read of the socket brought were handed over.
    ///   - onReconnected: after an outage, everything is subscribed again; what was published meanwhile is lost.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, logger: Logger,
        onMessage: @escaping @Sendable (_ topic: String, _ payload: ByteBuffer) -> Void,
        onBatchEnd: @escaping @Sendable () -> Void = {}, onReconnected: @escaping @Sendable () -> Void = {}
    ) {
        self.eventLoop = eventLoop
        let link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: [], asksTime: false, logger: logger)
        driver = .makeBoxSendingValue(
            SubscriptionDriver(
                configuration: configuration, link: link, status: status,
                callbacks: .init(onMessage: onMessage, onBatchEnd: onBatchEnd, onReconnected: onReconnected)),
            eventLoop: eventLoop)
    }

    /// Whether the connection stands and all wanted topics are subscribed. From any thread.
    package var isConnected: Bool { status.isUp.load(ordering: .acquiring) }

    /// Begins to connect, and keeps doing so until ``close()``. From any thread.
    package func start() {
        eventLoop.execute { self.driver.value.start() }
    }

    /// Closes; who waits for a confirmation gets `CLOSED`. From any thread.
    package func close() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                self.driver.value.close()
                continuation.resume()
            }
        }
    }

    /// Wants a topic; on ``eventLoop`` only. Completes when the server confirmed it, `TIMEOUT` after the command timeout
    /// (the topic is still wanted then and is subscribed when Redis is back; ``unsubscribe(_:)`` gives it up), `FULL` at the
    /// bound of topics.
    package func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        driver.value.subscribe(topic, completion)
    }

    /// Wants a topic no more; on ``eventLoop`` only. No message of it is handed over from now on; who still waits for its
    /// confirmation gets `CLOSED`.
    package func unsubscribe(_ topic: String) { driver.value.unsubscribe(topic) }
}
