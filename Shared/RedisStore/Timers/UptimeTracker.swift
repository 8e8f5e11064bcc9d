/// Since when Redis has been answering without a gap, as one asker sees it; no I/O.
///
/// While Redis did not answer, nobody could keep a lease up or resume a session: who judges those must first give them the
/// time that they would have had.
package struct UptimeTracker: Sendable {
    /// The longest time (ms) between two answers that is no gap, as long as the two clocks agree on it.
    package static let longestPause: Int64 = 2500

    private struct Answer {
        let redis: Int64
        let local: Int64
        let connection: Int
    }

    private var start: Int64?
    private var last: Answer?

    /// Nothing was heard yet.
    package init() {}

    /// Redis has told its time.
    /// - Parameters:
    ///   - redis: that time, ms.
    ///   - local: when the answer came, ms of a local clock that never goes back.
    ///   - connection: the number of the connection that it came over: a new one tells that an outage lay between.
    package mutating func answered(redis: Int64, local: Int64, connection: Int) {
        // A step of Redis' clock ends leases as an outage does.
        let isUnbroken =
            last.map { last in
                connection == last.connection && local - last.local <= Self.longestPause
                    && abs((redis - last.redis) - (local - last.local)) <= Self.longestPause
            } ?? false
        if !isUnbroken { start = redis }
        last = Answer(redis: redis, local: local, connection: connection)
    }

    /// Since when (Redis clock, ms); nil when the last answer is too long ago, or came over another connection.
    /// - Parameters: as for ``answered(redis:local:connection:)``.
    package func since(local: Int64, connection: Int) -> Int64? {
        guard let last, connection == last.connection, local - last.local <= Self.longestPause else { return nil }
        return start
    }
}
