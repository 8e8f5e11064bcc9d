package import ClusterState
internal import RedisStore
package import SignalingProtocol

/// The end of a lease.
package struct EndedLease: Equatable, Sendable {
    /// Whether the holder itself ended the lease; otherwise the holder is lost.
    package let isGivenBack: Bool
    /// From when on what the holder held counts as abandoned: its last heartbeat, or the time at which Redis began to
    /// answer, if that was later.
    package let abandonedAt: RedisTime
    /// When the end was found.
    package let now: RedisTime
}

/// Tells whether the holders of a fleet's leases are gone. Used by the service that deals with what they held.
package struct LeaseWatch<Holder: LeaseHolder, Timer: ServiceTimer>: Sendable {
    /// How long to wait before a lease that cannot be judged yet is checked again.
    private static var pause: Duration { .seconds(1) }

    private let leases: ProcessLeases<Holder>
    private let redis: RedisCluster
    private let uptime: RedisUptime
    private let timers: ServiceTimers<Timer>
    private let timer: @Sendable (Holder) -> Timer

    /// Creates a watch over the leases of one kind of process.
    /// - Parameter timer: the service's timer for a holder, which the holder's heartbeats postpone.
    package init(on resources: ServiceResources<Timer>, timer: @escaping @Sendable (Holder) -> Timer) {
        leases = ProcessLeases(connection: resources.redis)
        redis = resources.redis
        uptime = resources.uptime
        timers = resources.timers
        self.timer = timer
    }

    /// Checks a holder's lease after its timer has fired. A lease that is alive is checked again when it would end. While the
    /// lease's master did not answer, nobody could renew it; one that cannot be judged for that reason is checked again later.
    /// - Returns: nil while the lease is alive, or may be.
    package func ended(_ holder: Holder) async throws(SignalingError) -> EndedLease? {
        let slot = KeySpace.slot(of: Holder.fleet.subject(holder))
        let now = try await redis.time(ofSlot: slot)
        let heartbeat: RedisTime
        switch try await state(of: holder) {
        case .alive(let remaining):
            // A heartbeat did not postpone the timer: its server was away, or its clock is ahead of the lease's.
            try await lookAgain(at: holder, at: now + remaining + Holder.fleet.margin)
            return nil
        case .ended: return EndedLease(isGivenBack: true, abandonedAt: now, now: now)
        case .lost(let last): heartbeat = last
        }
        guard let since = await uptime.since(ofSlot: slot) else {
            try await lookAgain(at: holder, at: now + Self.pause)
            return nil
        }
        let earliest = since + Holder.fleet.watchDelay
        guard now >= earliest else {
            try await lookAgain(at: holder, at: earliest)
            return nil
        }
        return EndedLease(isGivenBack: false, abandonedAt: max(heartbeat, since), now: now)
    }

    /// Makes the holder's timer fire again, because not everything that it held has been dealt with.
    package func lookAgain(at holder: Holder, at time: RedisTime) async throws(SignalingError) {
        try await timers.set(timer(holder), at: time)
    }

    /// Whether the holder has a lease again.
    package func isBack(_ holder: Holder) async throws(SignalingError) -> Bool {
        if case .alive = try await state(of: holder) { true } else { false }
    }

    /// Forgets a holder, once everything that it held has been dealt with. No effect while its lease is alive.
    package func forget(_ holder: Holder) async throws(SignalingError) {
        do {
            try await leases.forget(holder)
        } catch {
            throw error.signaling
        }
    }

    private func state(of holder: Holder) async throws(SignalingError) -> LeaseState {
        do {
            return try await leases.state(of: holder)
        } catch {
            throw error.signaling
        }
    }
}
