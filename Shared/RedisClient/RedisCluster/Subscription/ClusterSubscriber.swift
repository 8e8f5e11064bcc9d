internal import ClusterState
package import Logging
package import NIOCore
package import SignalingProtocol

/// The slots that an event of a ``ClusterSubscriber`` concerns.
package enum SlotScope: Sendable, Equatable {
    /// All of them.
    case all
    /// Only these.
    case slots(Set<UInt16>)

    /// None of them.
    package static let none = SlotScope.slots([])

    /// Their number, for a log line.
    package var text: String {
        switch self {
        case .all: "all"
        case .slots(let slots): "\(slots.count)"
        }
    }

    /// Adds those of another scope.
    package mutating func formUnion(_ other: SlotScope) {
        switch (self, other) {
        case (.all, _), (_, .all): self = .all
        case (.slots(let own), .slots(let others)): self = .slots(own.union(others))
        }
    }

    /// Whether a slot is among them.
    package func contains(_ slot: UInt16) -> Bool {
        switch self {
        case .all: true
        case .slots(let slots): slots.contains(slot)
        }
    }

    /// Whether the slot of a subject is among them.
    package func contains(subject: @autoclosure () -> Subject) -> Bool {
        switch self {
        case .all: true
        case .slots(let slots): slots.contains(KeySpace.slot(of: subject()))
        }
    }
}

/// The topics that a ``ClusterSubscriber`` is subscribed to, and the connections for them; on its event loop.
protocol TopicSubscription: AnyObject {
    /// Opens the connections to the masters that the driver knows, and follows its map.
    func start(_ cluster: ClusterDriver)
    /// See ``ClusterSubscriber/close()``.
    func close()
    /// See ``ClusterSubscriber/subscribe(_:_:)``.
    func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void)
    /// See ``ClusterSubscriber/unsubscribe(_:)``.
    func unsubscribe(_ topic: String)
}

/// Pub/sub on Redis as a ``RedisClient`` uses it: SUBSCRIBE on a single server, SSUBSCRIBE at the
/// master of each topic's slot in a cluster. It reconnects, follows the slots to other masters, and
/// renews its subscriptions by itself.
///
/// Delivery is at most once: after `onReconnected` the owner must read what it missed from the logs.
package final class ClusterSubscriber: Sendable {
    /// What a subscriber tells its owner, on its event loop.
    package struct Callbacks {
        let onMessage: (_ topic: String, _ payload: ByteBuffer) -> Void
        let onBatchEnd: () -> Void
        let onReconnected: (_ slots: SlotScope) -> Void

        /// - Parameters:
        ///   - onMessage: called for each message of a wanted topic.
        ///   - onBatchEnd: called after the messages of each read of a socket.
        ///   - onReconnected: called when topics are subscribed again after an outage, or at another master, or for the
        ///     first time after `TIMEOUT`; messages published meanwhile to topics of these slots are lost.
        package init(
            onMessage: @escaping (_ topic: String, _ payload: ByteBuffer) -> Void,
            onBatchEnd: @escaping () -> Void = {}, onReconnected: @escaping (_ slots: SlotScope) -> Void = { _ in }
        ) {
            self.onMessage = onMessage
            self.onBatchEnd = onBatchEnd
            self.onReconnected = onReconnected
        }

        /// The same for a subscriber of one server, which knows no slots.
        var ofOneServer: RedisSubscriber.Callbacks {
            RedisSubscriber.Callbacks(
                onMessage: onMessage, onBatchEnd: onBatchEnd,
                onReconnected: { [onReconnected] in onReconnected(.all) })
        }
    }

    /// The event loop of all calls and callbacks: that of the cluster's commands.
    package let eventLoop: any EventLoop
    private let topics: any TopicBackend

    /// Creates a subscriber on the cluster's event loop, for an owner that is isolated to that loop: the owner's
    /// closures need no further check. Otherwise as ``init(_:logger:callbacks:)``.
    package init(onLoopOf cluster: RedisClient, logger: Logger, callbacks: Callbacks) {
        eventLoop = cluster.eventLoop
        topics = cluster.backend.topics(onLoop: callbacks, logger)
    }

    /// Creates a subscriber, from any thread; ``start()`` opens it. All callbacks run on the loop.
    /// - Parameter cluster: whose configuration and map of slots it uses; to be closed after it.
    package init(_ cluster: RedisClient, logger: Logger, callbacks: sending Callbacks) {
        eventLoop = cluster.eventLoop
        topics = cluster.backend.topics(from: callbacks, logger)
    }

    /// Whether messages arrive: the server is connected and all wanted topics are subscribed; in a cluster, more than
    /// half of the masters are connected. May be read from any thread.
    package var isConnected: Bool { topics.isConnected }

    /// Starts to connect, and reconnects until ``close()``. May be called from any thread.
    package func start() { topics.start() }

    /// Closes all connections; callers that wait for a confirmation get `CLOSED`. May be called from any thread.
    package func close() async { await topics.close() }

    /// Subscribes to a topic; on ``eventLoop`` only. Completes when the server has confirmed it; with `TIMEOUT` after
    /// the command timeout (the topic stays wanted and is subscribed when its master is back, unless
    /// ``unsubscribe(_:)`` is called); or with `FULL` at the bound of topics.
    package func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        topics.subscribe(topic, completion)
    }

    /// Unsubscribes from a topic; on ``eventLoop`` only. No further message of it is passed on; callers that still wait
    /// for its confirmation get `CLOSED`.
    package func unsubscribe(_ topic: String) { topics.unsubscribe(topic) }
}
