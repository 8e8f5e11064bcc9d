package import ClusterBus
internal import ClusterState
package import SignalingProtocol

/// The end of a holder's leases.
package struct EndedLease: Equatable, Sendable {
    /// Whether the holder itself ended them; otherwise the holder is lost.
    package let isGivenBack: Bool
    /// From when on what the holder held counts as abandoned: its last heartbeat, or the time at which Redis began to
    /// answer, if that was later.
    package let abandonedAt: RedisTime
    /// When the end was found: by no server's clock later than when the lease there was read.
    package let now: RedisTime
    /// The number of the first lease of which something was left; nil when they were given back.
    let witness: Int?
}

/// What follows from the readings of a holder's leases: it is alive while more than half of them are, and has ended
/// when more than half of them have. No I/O.
package enum LeaseVerdict: Equatable, Sendable {
    /// More than half are alive, and not longer than for this time unless they are renewed.
    case alive(remaining: Duration)
    /// More than half have ended.
    case ended(EndedLease)
    /// Too few could be read, or their servers have not answered long enough for the holder to renew them.
    case undecided

    /// A reading, and since when its server has been answering without a gap; nil while that is unknown.
    package typealias Dated = (reading: LeaseReading, since: RedisTime?)

    /// Judges a holder.
    /// - Parameters:
    ///   - found: one for each of its leases, in order; nil where none could be read.
    ///   - watchDelay: how long a server must have been answering before a lease counts as expired.
    package init(_ found: [Dated?], watchDelay: Duration) {
        let stated = found.lazy.compactMap { $0?.reading.count }.first
        // An earlier release renews only the first. While that cannot be read, the absence of the others says nothing.
        if stated == nil, found.first.map({ $0 == nil }) ?? true {
            self = .undecided
            return
        }
        self.init(all: stated == 1 ? Array(found.prefix(1)) : found, watchDelay)
    }

    private init(all found: [Dated?], _ watchDelay: Duration) {
        let majority = found.count / 2 + 1
        let read = found.compactMap(\.self)
        let lives = read.compactMap { dated -> Duration? in
            if case .alive(let remaining) = dated.reading.lease { remaining } else { nil }
        }
        if lives.count >= majority {
            self = .alive(remaining: lives.sorted(by: >)[majority - 1])
            return
        }
        let now = read.map(\.reading.now).min() ?? RedisTime(milliseconds: 0)
        if read.count(where: { $0.reading.lease == .absent }) >= majority {
            self = .ended(EndedLease(isGivenBack: true, abandonedAt: now, now: now, witness: nil))
            return
        }
        self = Self.lost(found, majority, watchDelay, now)
    }

    private static func lost(
        _ found: [Dated?], _ majority: Int, _ watchDelay: Duration, _ now: RedisTime
    ) -> LeaseVerdict {
        var (ended, witness, abandoned) = (0, Int?.none, RedisTime?.none)
        for (number, dated) in found.enumerated() {
            // While the lease's server did not answer, nobody could renew it.
            guard let dated, let since = dated.since, dated.reading.now >= since + watchDelay else { continue }
            switch dated.reading.lease {
            case .alive: continue
            case .absent: ended += 1
            case .expired(let heartbeat):
                ended += 1
                witness = witness ?? number
                let own = max(heartbeat, since)
                abandoned = max(abandoned ?? own, own)
            }
        }
        guard ended >= majority, let abandoned, let witness else { return .undecided }
        return .ended(EndedLease(isGivenBack: false, abandonedAt: abandoned, now: now, witness: witness))
    }
}
