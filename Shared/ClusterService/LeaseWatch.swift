package import ClusterState
internal import RedisStore
package import SignalingProtocol

/// The end of a lease.
package struct EndedLease: Equatable, Sendable {
    /// Whether the holder itself ended the lease; otherwise the holder is lost.
    package let isGivenBack: Bool
    /// From when on what the holder held counts as abandoned, in ms of Redis' clock: its last heartbeat, or the time at
    /// which Redis began to answer, if that was later.
    package let abandonedAt: Int64
    /// When the end was found, in ms of Redis' clock.
    package let now: Int64
}

/// Tells whether the holders of a fleet's leases are gone. Used by the service that deals with what they held.
package struct LeaseWatch<Holder: LeaseHolder, Timer: ServiceTimer>: Sendable {
    /// How long to wait before a lease that cannot be judged yet is checked again.
    private static var pause: Duration { .seconds(1) }

    private let leases: ProcessLeases<Holder>
    private let redis: RedisConnection
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

    /// Checks a holder's lease after its timer has fired. While Redis did not answer, nobody could renew a lease; one
    /// that cannot be judged for that reason is checked again later.
    /// - Returns: nil while the lease is alive, or may be.
    package func ended(_ holder: Holder) async throws(SignalingError) -> EndedLease? {
        let now = try await redis.time()
        guard let heartbeat = try await lastHeartbeat(of: holder) else { return nil }
        guard heartbeat != 0 else { return EndedLease(isGivenBack: true, abandonedAt: now, now: now) }
        guard let since = uptime.since?.milliseconds else {
            try await lookAgain(at: holder, at: now + Self.pause.wholeMilliseconds)
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
    /// - Parameter time: in ms of Redis' clock.
    package func lookAgain(at holder: Holder, at time: Int64) async throws(SignalingError) {
        try await timers.set(timer(holder), at: time)
    }

    /// Whether the holder has a lease again.
    package func isBack(_ holder: Holder) async throws(SignalingError) -> Bool {
        try await lastHeartbeat(of: holder) == nil
    }

    /// Forgets a holder, once everything that it held has been dealt with. No effect while its lease is alive.
    package func forget(_ holder: Holder) async throws(SignalingError) {
        do {
            try await leases.forget(holder)
        } catch {
            throw error.signaling
        }
    }

    /// The time of the last heartbeat in ms of Redis' clock; nil while the lease is alive, 0 when the holder ended it.
    private func lastHeartbeat(of holder: Holder) async throws(SignalingError) -> Int64? {
        do {
            return try await leases.lost(holder)
        } catch {
            throw error.signaling
        }
    }
}
