internal import ClusterState
internal import Logging
internal import NIOCore
internal import Synchronization

/// The topics of a ``ClusterSubscriber`` and its connections: carries out what ``ShardTopics`` says.
///
/// Belongs to the subscriber's event loop; everything here runs on it.
final class ClusterSubscription: TopicSubscription {
    struct Waiter {
        let deadline: NIODeadline
        let completion: (Result<Void, RedisError>) -> Void
    }

    /// The pause before a slot is tried again whose topics were refused or ended.
    private static let retryPause = TimeAmount.milliseconds(100)

    private let limits: RedisConfiguration
    private let eventLoop: any EventLoop
    private let callbacks: ClusterSubscriber.Callbacks
    private let status: ConnectionStatus
    private let logger: Logger
    private var cluster: ClusterDriver?
    private var topics = ShardTopics<Waiter>()
    private var links: [NodeAddress: ShardLink] = [:]
    /// The slots whose topics have been renewed by the current read of a socket.
    private var renewed: Set<UInt16> = []
    private var isRetryScheduled = false
    private var isClosed = false
    private var timer: RepeatedTask?

    init(
        limits: RedisConfiguration, eventLoop: any EventLoop, status: ConnectionStatus, logger: Logger,
        callbacks: ClusterSubscriber.Callbacks
    ) {
        self.limits = limits
        self.eventLoop = eventLoop
        self.status = status
        self.logger = logger
        self.callbacks = callbacks
    }

    /// Follows the map of a cluster on the same event loop.
    func start(_ cluster: ClusterDriver) {
        guard !isClosed else { return }
        self.cluster = cluster
        cluster.mapObservers.append(self)
        openLinks()
        let subscription = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            subscription.value.check()
        }
    }

    func close() {
        isClosed = true
        timer?.cancel()
        cluster?.mapObservers.removeAll { $0 === self }
        cluster = nil
        for link in links.values { link.close() }
        links = [:]
        status.isUp.store(false, ordering: .releasing)
        for waiter in topics.removeWaiters(where: { _ in true }) { waiter.completion(.failure(.shutDown)) }
    }

    /// See ``ClusterSubscriber/subscribe(_:_:)``.
    func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        guard !isClosed else { return completion(.failure(.shutDown)) }
        guard topics.count < limits.maxTopics || topics.isWanted(topic) else {
            return completion(.failure(.full("topics of a Redis subscriber", bound: limits.maxTopics)))
        }
        let slot = KeySlot.of(topic)
        let waiter = Waiter(deadline: .now() + TimeAmount(limits.commandTimeout), completion: completion)
        switch topics.want(topic, slot: slot, waiter) {
        case .confirmed: completion(.success(()))
        case .wait: attach(slot)
        case .subscribe(let master): links[master]?.subscribe([topic], slot: slot)
        }
    }

    /// See ``ClusterSubscriber/unsubscribe(_:)``.
    func unsubscribe(_ topic: String) {
        guard let dropped = topics.drop(topic) else { return }
        if let master = dropped.master { links[master]?.unsubscribe(topic) }
        // Told at the end of the next read, which the answer to SUNSUBSCRIBE brings about.
        if let slot = dropped.renewed { renewed.insert(slot) }
        for waiter in dropped.waiters { waiter.completion(.failure(.shutDown)) }
    }

    private func openLinks() {
        for master in cluster?.machine.map?.masters ?? [] where links[master.address] == nil {
            let link = ShardLink(
                master: master.address, configuration: limits.at(master.address), owner: self, eventLoop: eventLoop,
                logger: logger)
            links[master.address] = link
            link.start()
        }
    }

    /// Subscribes the topics of a slot that is attached to no master, if its owner is connected.
    private func attach(_ slot: UInt16) {
        guard topics.master(ofSlot: slot) == nil, let owner = cluster?.machine.map?.owner(of: slot),
            let link = links[owner], link.isUp
        else { return }
        link.subscribe(topics.attach(slot, to: owner), slot: slot)
    }

    private func attachAll() { for slot in topics.detached { attach(slot) } }

    /// Has the map read, because a slot may have moved, and tries again in any case.
    private func retrySoon() {
        cluster?.wantMap()
        guard !isRetryScheduled else { return }
        isRetryScheduled = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.retryPause) {
            self.isRetryScheduled = false
            self.attachAll()
        }
    }

    private func check() {
        let now = NIODeadline.now()
        for waiter in topics.removeWaiters(where: { $0.deadline <= now }) { waiter.completion(.failure(.timeout)) }
        for link in links.values { link.check() }
    }

    private func updateStatus() {
        status.isUp.store(links.values.count(where: \.isUp) * 2 > links.count, ordering: .releasing)
    }
}

extension ClusterSubscription: SlotMapObserver {
    func mapChanged(_ changes: SlotMapChanges) {
        for master in changes.gone {
            links.removeValue(forKey: master)?.close()
            topics.detachAll(of: master)
        }
        openLinks()
        for range in changes.moved {
            for slot in range {
                guard let master = topics.master(ofSlot: slot), master != cluster?.machine.map?.owner(of: slot) else {
                    continue
                }
                // Its former master ends the subscriptions by itself, and would answer SUNSUBSCRIBE with MOVED.
                topics.detach(slot)
            }
        }
        attachAll()
        updateStatus()
    }
}

extension ClusterSubscription: ShardLink.Owner {
    func linkOpened(to master: NodeAddress) {
        attachAll()
        updateStatus()
    }

    func linkClosed(to master: NodeAddress) {
        topics.detachAll(of: master)
        cluster?.wantMap()
        updateStatus()
    }

    func message(_ topic: String, _ payload: ByteBuffer) {
        // Messages may still arrive after SUNSUBSCRIBE has been sent.
        if topics.isWanted(topic) { callbacks.onMessage(topic, payload) }
    }

    func batchEnded() {
        callbacks.onBatchEnd()
        guard !renewed.isEmpty else { return }
        let slots = renewed
        renewed = []
        callbacks.onReconnected(.slots(slots))
    }

    func confirmed(_ topic: String, by master: NodeAddress) {
        let (waiters, slot) = topics.confirmed(topic, by: master)
        if let slot { renewed.insert(slot) }
        for waiter in waiters { waiter.completion(.success(())) }
    }

    func ended(_ topic: String, by master: NodeAddress) {
        guard topics.ended(topic, by: master) != nil else { return }
        retrySoon()
    }

    func refused(_ slot: UInt16, by master: NodeAddress, _ error: RedisError) {
        let isExpected = Refusal(error, by: master) != nil
        logger.log(
            level: isExpected ? .debug : .warning, "a subscription was refused",
            metadata: ["node": "\(master)", "slot": "\(slot)", "error": "\(error)"])
        if topics.master(ofSlot: slot) == master { topics.detach(slot) }
        retrySoon()
    }
}
