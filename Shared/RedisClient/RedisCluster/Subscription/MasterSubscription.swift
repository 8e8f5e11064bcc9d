internal import Logging
internal import NIOCore
internal import Synchronization

/// The topics of a ``ClusterSubscriber`` where Sentinels name a single master: subscribes by SUBSCRIBE at the master of
/// the moment, and leaves it together with the commands.
///
/// Belongs to the subscriber's event loop; everything here runs on it.
final class MasterSubscription: TopicSubscription {
    private let limits: RedisConfiguration
    private let logger: Logger
    private let driver: SubscriptionDriver
    private var cluster: ClusterDriver?
    private var master: NodeAddress?
    private var link: LinkEnds.Link?

    init(
        limits: RedisConfiguration, eventLoop: any EventLoop, status: ConnectionStatus, logger: Logger,
        callbacks: RedisSubscriber.Callbacks
    ) {
        self.limits = limits
        self.logger = logger
        // A placeholder that is never started: the driver needs a link before the first master is known.
        let nowhere = RedisLink(
            configuration: limits, eventLoop: eventLoop, libraries: [], asksTime: false, logger: logger)
        driver = SubscriptionDriver(link: nowhere, status: status, callbacks: callbacks)
    }

    /// Follows the master of a cluster client on the same event loop.
    func start(_ cluster: ClusterDriver) {
        self.cluster = cluster
        cluster.mapObservers.append(self)
        link = cluster.addSubscriberLink { [weak self] error in self?.driver.drop(error) }
        driver.startChecks()
        follow()
    }

    func close() {
        cluster?.mapObservers.removeAll { $0 === self }
        if let link { cluster?.removeSubscriberLink(link) }
        cluster = nil
        driver.close()
    }

    /// See ``ClusterSubscriber/subscribe(_:_:)``.
    func subscribe(_ topic: String, _ completion: @escaping (Result<Void, RedisError>) -> Void) {
        driver.subscribe(topic, completion)
    }

    /// See ``ClusterSubscriber/unsubscribe(_:)``.
    func unsubscribe(_ topic: String) { driver.unsubscribe(topic) }

    private func follow() {
        guard let cluster, let link, let master = cluster.machine.map?.masters.first?.address, master != self.master
        else { return }
        self.master = master
        // What is known of the connection is about the one before.
        cluster.ends.closed(link)
        var logger = logger
        logger[metadataKey: "node"] = "\(master)"
        driver.move(
            to: RedisLink(
                configuration: limits.at(master), eventLoop: cluster.eventLoop, libraries: [], asksTime: false,
                logger: logger,
                check: { [weak self] identity in
                    if let refusal = identity.refusal { return refusal }
                    self?.cluster?.linkOpened(link, identity)
                    return nil
                }))
    }
}

extension MasterSubscription: SlotMapObserver {
    func mapChanged(_ changes: SlotMapChanges) { follow() }
}
