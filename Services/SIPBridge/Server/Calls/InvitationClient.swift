internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import Logging
internal import NIOCore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Sends the bridge's commands to the invitation service, and receives the replies on the bridge's topics.
struct InvitationClient: Sendable {
    /// How long to wait for the reply to a command.
    static let patience = Duration.seconds(8)
    private static let retryPause = Duration.milliseconds(500)

    private let eventLoop: any EventLoop
    private let sender: CommandSender
    private let topics: NIOLoopBoundBox<OwnTopics>
    private let logger: Logger
    private let subscriber: ClusterSubscriber

    init(bridge: BridgeID, connection: RedisClient, logger: Logger) {
        eventLoop = connection.eventLoop
        let sender = CommandSender(sender: .bridge(bridge), connection: connection, logger: logger)
        self.sender = sender
        self.logger = logger
        subscriber = ClusterSubscriber(
            connection, logger: logger,
            callbacks: .init(
                onMessage: { _, payload in Self.received(payload, for: sender, logger) },
                onReconnected: { sender.resendPending($0) }))
        topics = .makeBoxSendingValue(
            OwnTopics(
                connection.bus.topics(of: bridge), of: subscriber, on: connection,
                onLate: { sender.resendPending(.slots([$0])) }),
            eventLoop: eventLoop)
    }

    /// Whether replies can arrive.
    var isConnected: Bool { subscriber.isConnected }

    /// Subscribes to the replies, as soon as Redis answers; in a cluster, more than half of its masters.
    /// - Throws: `CancellationError`.
    func start() async throws {
        subscriber.start()
        while true {
            let subscribed = eventLoop.makePromise(of: Bool.self)
            eventLoop.execute {
                topics.value.subscribe { subscribed.completeWith($0.mapError { $0 as any Error }) }
            }
            var metadata: Logger.Metadata = [:]
            do {
                if try await subscribed.futureResult.get() { return }
            } catch {
                metadata["error"] = "\(error)"
            }
            logger.warning("could not subscribe to answers; trying again", metadata: metadata)
            try await Task.sleep(for: Self.retryPause)
        }
    }

    func stop() async { await subscriber.close() }

    /// Sends a command and waits for its reply.
    func send<C: ServiceCommand>(_ command: C) async -> Result<C.Reply, SignalingError> {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                sender.send(command, within: Self.patience) { continuation.resume(returning: $0) }
            }
        }
    }

    private static func received(_ payload: ByteBuffer, for sender: CommandSender, _ logger: Logger) {
        do {
            let event = try payload.readableBytesView.withUnsafeBytes { bytes in
                try GatewayEvent.decode(bytes.bindMemory(to: UInt8.self)).get()
            }
            switch event {
            case .reply(let command, let outcome): sender.received(command, outcome)
            case nil: PhoneMetrics.shared.unknownEvents.increment()
            case .mail, .kicked, .moved, .removed, .media, .trace:
                logger.error("received an event that only gateways handle")
            }
        } catch {
            logger.error("could not decode an event", metadata: ["error": "\(error)"])
        }
    }
}
