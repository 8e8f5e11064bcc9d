internal import ClusterBus
internal import ClusterState
internal import Logging
internal import Pacing
internal import RedisClient
internal import Synchronization

/// The shards' leases, by which the cluster knows that the gateway lives, and its entry in the list of gateways.
extension GatewayService {
    /// Renews a shard's leases, the timers of their watcher, and, once it accepts clients, what discovery knows
    /// of it. None waits for another.
    /// - Returns: whether all of that was done, for more than half of the leases.
    func beat(_ shard: GatewayShard) async -> Bool {
        let leases = GatewayLeases(connection: shard.redis)
        let lease = await shard.lease(at: discovery.ownAddress)
        let isDraining = isStopping.load(ordering: .acquiring)
        async let isHeld = keep(leases, lease, of: shard, isDraining: isDraining)
        async let isListed = isDone("could not tell discovery of the gateway", shard) {
            if isDraining {
                try await leases.withdraw(shard.id)
            } else if shard.acceptsClients.load(ordering: .acquiring) {
                try await leases.announce(shard.id, lease)
            }
        }
        let parts = await [isHeld, isListed]
        return parts.allSatisfy(\.self)
    }

    /// Renews a shard's leases, and sets the timers of their watcher.
    /// - Returns: whether both were done for more than half of the leases.
    private func keep(
        _ leases: GatewayLeases, _ lease: GatewayLease, of shard: GatewayShard, isDraining: Bool
    ) async -> Bool {
        let asked = LocalTime.now
        let places = leases.places(of: shard.id)
        let done = await withTaskGroup(of: Bool.self) { acts in
            for place in await worthTrying(places, of: shard) {
                acts.addTask {
                    async let isRenewed = self.isDone("could not renew one of the gateway's leases", shard) {
                        let wasHeld = try await leases.renew(shard.id, lease, at: place, isDraining: isDraining)
                        await shard.leaseRenewed(place.number, askedAt: asked, wasHeld: wasHeld)
                    }
                    async let isWatched = self.isDone("could not set the timer that watches a lease", shard) {
                        try await leases.watch(shard.id, at: place)
                    }
                    return await (isRenewed, isWatched) == (true, true)
                }
            }
            return await acts.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        return done > places.count / 2
    }

    /// The leases to renew now. Before a shard accepts clients, it does not wait for a master
    /// that is away when others suffice.
    private func worthTrying(_ places: [LeasePlace], of shard: GatewayShard) async -> [LeasePlace] {
        guard places.count > 1, !shard.acceptsClients.load(ordering: .acquiring) else { return places }
        let redis = shard.redis
        return await redis.read { places.filter { redis.isReachable(slot: $0.slot) } }
    }

    /// Tries an act for a shard, and logs its failure.
    private func isDone(
        _ complaint: Logger.Message, _ shard: GatewayShard, _ act: @Sendable () async throws -> Void
    ) async -> Bool {
        do {
            try await act()
            return true
        } catch {
            logger.warning(complaint, metadata: ["gateway": "\(shard.id)", "error": "\(error)"])
            return false
        }
    }

    /// Gives a shard's leases back, after presence has confirmed the detach of every session that lost its connection
    /// here, or has not answered in time.
    func leave(_ shard: GatewayShard) async {
        do {
            try await GatewayLeases(connection: shard.redis).leave(shard.id)
        } catch {
            logger.warning(
                "could not give the gateway's leases back; they will expire",
                metadata: ["gateway": "\(shard.id)", "error": "\(error)"])
        }
    }
}
