internal import ClusterBus
package import ClusterState
internal import RedisClient
package import SignalingProtocol

/// Tells whether the holders of a fleet's leases are gone. Used by the service that deals with what they held.
///
/// A holder has a timer at each of its leases, so that up to as many checks of it are made at about the same time, also
/// in different processes. What is still to be done is then left to one timer (``lookAgain(at:after:)``).
package struct LeaseWatch<Holder: LeaseHolder, Timer: ServiceTimer>: Sendable {
    /// How long to wait before a holder that cannot be judged yet is checked again.
    private static var pause: Duration { .seconds(1) }
    /// How long a reading of all leases may take. The holder trusts a lease that it has found expired again
    /// only when it has held it for a whole time to live: by then no watcher may count it as expired, and
    /// another one that expired later too.
    private static var longestReading: Duration { Holder.fleet.timeToLive / 2 }

    private let leases: ProcessLeases<Holder>
    private let uptime: RedisUptime
    private let timers: ServiceTimers<Timer>
    private let timer: @Sendable (Holder) -> Timer

    /// Creates a watch over the leases of one kind of process.
    /// - Parameter timer: the service's timer for a holder, which the holder's heartbeats postpone.
    package init(on resources: ServiceResources<Timer>, timer: @escaping @Sendable (Holder) -> Timer) {
        leases = ProcessLeases(connection: resources.redis)
        uptime = resources.uptime
        timers = resources.timers
        self.timer = timer
    }

    /// Checks a holder's leases after a timer of it has fired. One that is alive is checked again when it would end;
    /// one that cannot be judged yet, after a pause.
    /// - Returns: nil while the holder is alive, or may be.
    package func ended(_ holder: Holder) async throws(SignalingError) -> EndedLease? {
        switch await verdict(on: holder) {
        case .alive(let remaining):
            // A heartbeat did not postpone the timer: its server was away, or its clock is ahead of the lease's.
            try await lookAgain(at: holder, after: remaining + Holder.fleet.margin)
            return nil
        case .undecided:
            try await lookAgain(at: holder, after: Self.pause)
            return nil
        case .ended(let lease): return lease
        }
    }

    private func verdict(on holder: Holder) async -> LeaseVerdict {
        let start = ContinuousClock.now
        let readings = await leases.read(holder)
        guard start.duration(to: .now) <= Self.longestReading else { return .undecided }
        var found: [LeaseVerdict.Dated?] = []
        for (place, reading) in zip(leases.places(of: holder), readings) {
            let since = await uptime.since(ofSlot: place.slot)
            found.append(reading.map { ($0, since) })
        }
        return LeaseVerdict(found, watchDelay: Holder.fleet.watchDelay)
    }

    /// Makes one of the holder's timers fire again, because not everything that it held has been dealt with:
    /// the first whose server answers.
    package func lookAgain(at holder: Holder, after delay: Duration) async throws(SignalingError) {
        try await timers.set(timer(holder), after: delay, inOneOf: leases.places(of: holder).map(\.partition))
    }

    /// Whether the holder is alive again, or may be; it is then looked at later.
    package func isBack(_ holder: Holder) async throws(SignalingError) -> Bool { try await ended(holder) == nil }

    /// Forgets a holder, once everything that it held has been dealt with. No effect on leases that are alive.
    /// - Returns: whether no other check of the same end has done so before.
    package func forget(_ holder: Holder, _ lease: EndedLease) async throws(SignalingError) -> Bool {
        do {
            let removed = try await leases.forget(holder)
            return lease.witness.map(removed.contains) ?? true
        } catch {
            throw error.signaling
        }
    }
}
