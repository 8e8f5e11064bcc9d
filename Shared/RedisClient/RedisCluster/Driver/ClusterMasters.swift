internal import ClusterState
internal import Logging
internal import NIOCore
internal import Synchronization

/// Several masters, or one that may be replaced by another: ``ClusterDriver`` on its event loop, and what may be read
/// of it from any thread.
final class ClusterMasters: RedisBackend {
    private let configuration: RedisConfiguration
    private let eventLoop: any EventLoop
    private let status = ConnectionStatus()
    private let box: NIOLoopBoundBox<ClusterDriver>

    init(
        configuration: RedisConfiguration, eventLoop: any EventLoop, libraries: [RedisFunctionLibrary], logger: Logger
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        let driver = ClusterDriver(
            limits: configuration, eventLoop: eventLoop, libraries: libraries.map { $0.of(configuration.bus.flavour) },
            status: status, logger: logger)
        box = .makeBoxSendingValue(driver, eventLoop: eventLoop)
    }

    private var driver: ClusterDriver { box.value }

    func start() { eventLoop.execute { self.driver.start() } }

    func close() async { await eventLoop.completed { self.driver.close() } }

    func onConnected(_ callback: @escaping @Sendable (_ slots: SlotScope) -> Void) {
        eventLoop.execute { self.driver.onConnected(callback) }
    }

    var isConnected: Bool { status.isUp.load(ordering: .acquiring) }
    var connectionCount: Int { status.connections.load(ordering: .acquiring) }

    func send(
        _ command: RedisCommand, repeatedUntil until: NIODeadline?,
        _ completion: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        driver.send(command, repeatedUntil: until, completion)
    }

    func beforeWriting(_ act: @escaping () -> Void) { driver.beforeWriting(act) }
    func keepsOrder(of slots: () -> [UInt16]) -> Bool { driver.machine.keepsOrder(of: slots()) }
    var longestWait: TimeAmount { driver.longestWait }

    var isWhole: Bool { driver.machine.isHealthy }
    var slotsOfMasters: [UInt16] { driver.machine.ownersSlots }
    var clockSpread: Duration? { driver.clockSpread }
    var links: [RedisLinkState] {
        driver.nodes.compactMap { node in node.map { $0.pipeline.state(of: $0.address) } }
    }
    var readiness: RedisReadiness { RedisReadiness(driver.machine.readiness, clockSpread: clockSpread) }

    func isReachable(slot: UInt16?) -> Bool {
        slot.map { driver.machine.readyOwner(driver.machine.index($0)) != nil } ?? true
    }

    func owner(ofSlot slot: UInt16) -> NodeAddress? { driver.owner(ofSlot: slot)?.address }
    func term(ofSlot slot: UInt16) -> MasterTerm? { driver.owner(ofSlot: slot)?.term }
    func clock(ofSlot slot: UInt16) -> RedisClock? { driver.owner(ofSlot: slot)?.clock }

    func checkReadiness() async -> RedisReadiness { await eventLoop.completed { self.readiness } }

    func tell(_ observer: any SlotMapObserver & Sendable) {
        guard !driver.mapObservers.contains(where: { $0 === observer }) else { return }
        driver.mapObservers.append(observer)
    }

    func forget(_ observer: any SlotMapObserver & Sendable) { driver.mapObservers.removeAll { $0 === observer } }
    func wantMap() { driver.wantMap() }

    func topics(onLoop callbacks: ClusterSubscriber.Callbacks, _ logger: Logger) -> any TopicBackend {
        let status = ConnectionStatus()
        return ClusterTopics(
            NIOLoopBoundBox(subscription(status, callbacks, logger), eventLoop: eventLoop), of: box, status)
    }

    func topics(from callbacks: sending ClusterSubscriber.Callbacks, _ logger: Logger) -> any TopicBackend {
        let status = ConnectionStatus()
        return ClusterTopics(
            .makeBoxSendingValue(subscription(status, callbacks, logger), eventLoop: eventLoop), of: box, status)
    }

    /// At the only master, which Sentinels name, or at the master of each topic's slot.
    private func subscription(
        _ status: ConnectionStatus, _ callbacks: ClusterSubscriber.Callbacks, _ logger: Logger
    ) -> any TopicSubscription {
        if configuration.flavour.hasOneMaster {
            return MasterSubscription(
                limits: configuration, eventLoop: eventLoop, status: status, logger: logger,
                callbacks: callbacks.ofOneServer)
        }
        return ClusterSubscription(
            limits: configuration, eventLoop: eventLoop, status: status, logger: logger, callbacks: callbacks)
    }
}

/// Topics that follow the masters of a ``ClusterMasters``, on the same event loop.
private final class ClusterTopics: TopicBackend {
    private let eventLoop: any EventLoop
    private let status: ConnectionStatus
    private let subscription: NIOLoopBoundBox<any TopicSubscription>
    private let driver: NIOLoopBoundBox<ClusterDriver>

    init(
        _ subscription: NIOLoopBoundBox<any TopicSubscription>, of driver: NIOLoopBoundBox<ClusterDriver>,
        _ status: ConnectionStatus
    ) {
        eventLoop = driver.eventLoop
        self.subscription = subscription
        self.driver = driver
        self.status = status
    }

    var isConnected: Bool { status.isUp.load(ordering: .acquiring) }
    func start() { eventLoop.execute { self.subscription.value.start(self.driver.value) } }
    func close() async { await eventLoop.completed { self.subscription.value.close() } }

    func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        subscription.value.subscribe(topic, completion)
    }

    func unsubscribe(_ topic: String) { subscription.value.unsubscribe(topic) }
}
