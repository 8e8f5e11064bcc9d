package import ClusterState

/// Since when Redis has been answering without a gap, as seen by one process; no I/O.
///
/// While Redis did not answer, nobody could renew a lease or resume a session. Whoever ends these must first give them the full
/// time again, counted from the end of the gap.
package struct UptimeTracker: Sendable {
    /// The longest time between two answers that is no gap, as long as the two clocks agree on it.
    package static let longestPause = Duration.milliseconds(2500)

    private struct Answer {
        let redis: RedisTime
        let local: Duration
        let connection: Int
    }

    private var start: RedisTime?
    private var last: Answer?

    /// Nothing was heard yet.
    package init() {}

    /// Redis has told its time.
    /// - Parameters:
    ///   - redis: that time.
    ///   - local: when the answer came, by a local clock that never goes back.
    ///   - connection: the number of the connection that it came over: a new one tells that an outage lay between.
    package mutating func answered(redis: RedisTime, local: Duration, connection: Int) {
        // A step of Redis' clock ends leases as an outage does.
        let isUnbroken =
            last.map { last in
                connection == last.connection && local - last.local <= Self.longestPause
                    && Self.magnitude((redis - last.redis) - (local - last.local)) <= Self.longestPause
            } ?? false
        if !isUnbroken { start = redis }
        last = Answer(redis: redis, local: local, connection: connection)
    }

    /// Since when; nil when the last answer is too long ago, or came over another connection.
    /// - Parameters: as for ``answered(redis:local:connection:)``.
    package func since(local: Duration, connection: Int) -> RedisTime? {
        guard let last, connection == last.connection, local - last.local <= Self.longestPause else { return nil }
        return start
    }

    private static func magnitude(_ span: Duration) -> Duration { span < .zero ? .zero - span : span }
}
