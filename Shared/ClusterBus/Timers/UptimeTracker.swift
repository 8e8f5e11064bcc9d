internal import ClusterState
internal import RedisClient
package import SignalingProtocol

/// Since when a master of Redis has been answering one process without a gap; no I/O.
///
/// While it did not answer, nobody could renew a lease or resume a session. So before one is declared expired, it must
/// get its full time again, counted from the end of the gap.
package struct UptimeTracker: Sendable {
    /// The longest time between two replies that does not count as a gap; both clocks must agree on it.
    package static let longestPause = Duration.milliseconds(2500)

    private struct Answer {
        let redis: RedisTime
        let local: ContinuousClock.Instant
        let term: Int
    }

    private var start: RedisTime?
    private var last: Answer?

    /// Creates a tracker that has seen no reply.
    package init() {}

    /// Records a reply to TIME.
    /// - Parameters:
    ///   - redis: the time in the reply.
    ///   - local: when the reply arrived, by this process's clock.
    ///   - term: the number of the ``MasterTerm``; another number means that there has been an outage.
    package mutating func answered(redis: RedisTime, local: ContinuousClock.Instant, term: Int) {
        // A step of Redis' clock makes leases expire just as an outage does.
        let isUnbroken =
            last.map { last in
                term == last.term && local - last.local <= Self.longestPause
                    && Self.magnitude((redis - last.redis) - (local - last.local)) <= Self.longestPause
            } ?? false
        if !isUnbroken { start = redis }
        last = Answer(redis: redis, local: local, term: term)
    }

    /// The end of the last gap; nil when the last reply is too old or is from another term.
    /// - Parameters: as for ``answered(redis:local:connection:)``.
    package func since(local: ContinuousClock.Instant, term: Int) -> RedisTime? {
        guard let last, term == last.term, local - last.local <= Self.longestPause else { return nil }
        return start
    }

    private static func magnitude(_ span: Duration) -> Duration { span < .zero ? .zero - span : span }
}
