package import Logging
package import NIOCore
internal import Synchronization

/// A pub/sub connection that reconnects and renews its subscriptions by itself.
///
/// Delivery is at most once: after `onReconnected` the owner must read what it missed from the logs.
///
/// Topics and socket belong to ``eventLoop``: ``SubscriptionDriver`` is accessed through a box that checks this.
package final class RedisSubscriber: Sendable {
    /// The event loop of all calls and callbacks.
    package let eventLoop: any EventLoop
    private let status = ConnectionStatus()
    private let driver: NIOLoopBoundBox<SubscriptionDriver>

    /// What a subscriber tells its owner, on its event loop.
    package struct Callbacks {
        let onMessage: (_ topic: String, _ payload: ByteBuffer) -> Void
        let onBatchEnd: () -> Void
        let onReconnected: () -> Void

        /// - Parameters:
        ///   - onMessage: called for each message of a wanted topic.
        ///   - onBatchEnd: called after the messages of each read of the socket.
        ///   - onReconnected: called after an outage, when all topics are subscribed again;
        ///     messages published meanwhile are lost.
        package init(
            onMessage: @escaping (_ topic: String, _ payload: ByteBuffer) -> Void,
            onBatchEnd: @escaping () -> Void = {}, onReconnected: @escaping () -> Void = {}
        ) {
            self.onMessage = onMessage
            self.onBatchEnd = onBatchEnd
            self.onReconnected = onReconnected
        }
    }

    /// Creates a subscriber on its event loop, for an owner that is isolated to that loop: the owner's closures need no
    /// further check. Otherwise as ``init(configuration:eventLoop:logger:callbacks:)``.
    package init(
        configuration: RedisConfiguration, onLoop eventLoop: any EventLoop, logger: Logger, callbacks: Callbacks
    ) {
        self.eventLoop = eventLoop
        let link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: [], asksTime: false, logger: logger)
        driver = NIOLoopBoundBox(
            SubscriptionDriver(link: link, status: status, callbacks: callbacks), eventLoop: eventLoop)
    }

    /// Creates a subscriber, from any thread; ``start()`` opens it. All callbacks run on the loop.
    package init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, logger: Logger, callbacks: sending Callbacks
    ) {
        self.eventLoop = eventLoop
        let link = RedisLink(
            configuration: configuration, eventLoop: eventLoop, libraries: [], asksTime: false, logger: logger)
        driver = .makeBoxSendingValue(
            SubscriptionDriver(link: link, status: status, callbacks: callbacks), eventLoop: eventLoop)
    }

    /// Whether the connection is up and all wanted topics are subscribed. May be read from any thread.
    package var isConnected: Bool { status.isUp.load(ordering: .acquiring) }

    /// Starts to connect, and reconnects until ``close()``. May be called from any thread.
    package func start() {
        eventLoop.execute { self.driver.value.start() }
    }

    /// Closes the connection; callers that wait for a confirmation get `CLOSED`. May be called from any thread.
    package func close() async {
        await eventLoop.completed { self.driver.value.close() }
    }

    /// Subscribes to a topic; on ``eventLoop`` only. Completes when the server has confirmed it; with `TIMEOUT` after
    /// the command timeout (the topic stays wanted and is subscribed when Redis is back, unless ``unsubscribe(_:)`` is
    /// called); or with `FULL` at the bound of topics.
    package func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        driver.value.subscribe(topic, completion)
    }

    /// Unsubscribes from a topic; on ``eventLoop`` only. No further message of it is passed on; callers that still wait
    /// for its confirmation get `CLOSED`.
    package func unsubscribe(_ topic: String) { driver.value.unsubscribe(topic) }
}
