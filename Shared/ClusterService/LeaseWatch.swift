package import ClusterState
internal import RedisStore
package import SignalingProtocol

/// A lease that has ended.
package struct EndedLease: Equatable, Sendable {
    /// Whether its holder gave it back, rather than being lost.
    package let isGivenBack: Bool
    /// Since when what its holder held counts as abandoned (Redis clock, ms): the last heartbeat, or when Redis began to
    /// answer if that was later.
    package let abandonedAt: Int64
    /// When this was found (Redis clock, ms).
    package let now: Int64
}

/// Judges whether the holders of a fleet's leases are gone, for the service that then deals with what they held.
package struct LeaseWatch<Timer: ServiceTimer>: Sendable {
    /// After so long a lease is looked at again that cannot be judged yet.
    private static var pause: Duration { .seconds(1) }

    private let fleet: LeaseFleet
    private let leases: GatewayLeases
    private let redis: RedisConnection
    private let uptime: RedisUptime
    private let timers: ServiceTimers<Timer>
    private let timer: @Sendable (GatewayID) -> Timer

    /// Watches over a fleet.
    /// - Parameter timer: the timer that the holder's heartbeats move on.
    package init(
        over fleet: LeaseFleet, on resources: ServiceResources<Timer>, timer: @escaping @Sendable (GatewayID) -> Timer
    ) {
        self.fleet = fleet
        leases = GatewayLeases(connection: resources.redis, fleet: fleet)
        redis = resources.redis
        uptime = resources.uptime
        timers = resources.timers
        self.timer = timer
    }

    /// A holder's timer fired. A lease whose end cannot be judged yet, because nobody could renew it while Redis was away, is
    /// looked at again later.
    /// - Returns: nil while the lease lives, or may live.
    package func ended(_ holder: GatewayID) async throws(SignalingError) -> EndedLease? {
        let now = try await redis.time()
        guard let heartbeat = try await lastHeartbeat(of: holder) else { return nil }
        guard heartbeat != 0 else { return EndedLease(isGivenBack: true, abandonedAt: now, now: now) }
        guard let since = uptime.since?.milliseconds else {
            try await lookAgain(at: holder, at: now + Self.pause.wholeMilliseconds)
            return nil
        }
        let earliest = since + fleet.watchDelay
        guard now >= earliest else {
            try await lookAgain(at: holder, at: earliest)
            return nil
        }
        return EndedLease(isGivenBack: false, abandonedAt: max(heartbeat, since), now: now)
    }

    /// Has the holder's timer fire again, because not all that it held is dealt with.
    /// - Parameter time: the Redis clock, ms.
    package func lookAgain(at holder: GatewayID, at time: Int64) async throws(SignalingError) {
        try await timers.set(timer(holder), at: time)
    }

    /// Whether the holder keeps a lease again.
    package func isBack(_ holder: GatewayID) async throws(SignalingError) -> Bool {
        try await lastHeartbeat(of: holder) == nil
    }

    /// Forgets a holder: all that it held is dealt with. No effect while its lease lives.
    package func forget(_ holder: GatewayID) async throws(SignalingError) {
        do {
            try await leases.forget(holder)
        } catch {
            throw error.signaling
        }
    }

    /// Nil while the lease lives; 0 when it was given back.
    private func lastHeartbeat(of holder: GatewayID) async throws(SignalingError) -> Int64? {
        do {
            return try await leases.lost(holder)
        } catch {
            throw error.signaling
        }
    }
}
