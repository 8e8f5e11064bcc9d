internal import Logging
internal import NIOCore

/// A single master that Sentinels name.
extension ClusterDriver {
    /// The number of the commands' connection in ``ends``.
    private static let commandLink: LinkEnds.Link = 0

    /// The check of the server at the end of the commands' connection; nil in a cluster, where every
    /// answer shows who owns the slot.
    func masterCheck(_ address: NodeAddress) -> ((ServerIdentity) -> RedisError?)? {
        guard hasOneMaster else { return nil }
        // What is known of the connection is about the one before.
        ends.closed(Self.commandLink)
        return { [unowned self] identity in
            if let refusal = identity.refusal { return refusal }
            linkOpened(Self.commandLink, identity)
            if let former = lastMaster, former.address != address, !identity.continues(former.identity) {
                logger.error(
                    "the new Redis master does not continue the data of the former one, which may be lost",
                    metadata: ["node": "\(address)", "former": "\(former.address)"])
            }
            lastMaster = (address, identity)
            return nil
        }
    }

    func commandLinkClosed() { ends.closed(Self.commandLink) }

    /// Registers a subscriber's connection.
    /// - Parameter drop: has it opened anew.
    func addSubscriberLink(drop: @escaping (RedisError) -> Void) -> LinkEnds.Link {
        let link = (subscriberLinks.keys.max() ?? Self.commandLink) + 1
        subscriberLinks[link] = drop
        return link
    }

    func removeSubscriberLink(_ link: LinkEnds.Link) {
        subscriberLinks[link] = nil
        ends.closed(link)
    }

    /// One of the connections to the master has been opened: those that end at another server are dropped.
    func linkOpened(_ link: LinkEnds.Link, _ identity: ServerIdentity) {
        for other in ends.opened(link, runID: identity.runID) {
            logger.info("commands and subscriptions ended at different Redis servers; connecting anew")
            if let drop = subscriberLinks[other] {
                drop(.elsewhere)
            } else {
                for case let node? in nodes { node.pipeline.link.drop(.elsewhere) }
            }
        }
    }

    /// A Sentinel has published a message about the failover of the master.
    func heard(_ event: SentinelEvent, from sentinel: NodeAddress) {
        logger.info("Redis Sentinel", metadata: ["event": "\(event)", "node": "\(sentinel)"])
        switch event {
        case .began:
            perform(machine.failoverBegan(.now()))
            refreshIdentity()
        case .aborted: perform(machine.failoverAborted(.now()))
        case .promoted, .switched:
            // Until its answer, which takes a millisecond, nothing more goes to the old master.
            perform(machine.failoverBegan(.now()))
            sentinels?.ask(sentinel, limit: machine.settings.reading.limit) { self.failoverEnded($0) }
        }
        updateStatus()
    }

    private func failoverEnded(_ result: Result<NodeAddress, RedisError>) {
        guard !isClosed else { return }
        switch result {
        case .success(let master): perform(machine.switched(to: master, now: .now()))
        // The master that is used is a newer one.
        case .failure(let error) where error.code == .outdated: perform(machine.failoverAborted(.now()))
        case .failure: wantMap()
        }
        updateStatus()
    }

    /// Reads once more which history the master writes: one without replicas begins another after an hour.
    private func refreshIdentity() {
        guard let master = owner(ofSlot: 0) else { return }
        master.pipeline.send(ServerIdentity.command) { result in
            guard case .success(let info) = result, let identity = try? ServerIdentity(info: info),
                identity.refusal == nil, self.lastMaster?.address == master.address
            else { return }
            self.lastMaster = (master.address, identity)
        }
    }
}
