package import Pacing

/// The rate of a key's requests at one gateway process: as many at once as it may make in a second.
///
/// A batch may exceed what is left, and then the next requests wait for longer: a batch that is larger than the rate
/// could never be sent otherwise.
package struct RequestRate: Sendable {
    /// What a key has left.
    package struct State: Equatable, Sendable {
        /// Requests per second.
        package let limit: Int
        /// Requests that may be made now; 0 when one must wait.
        package let remaining: Int
        /// Seconds until one may be made again when ``remaining`` is 0, else until all may; at least 1 unless all may.
        package let reset: Int
    }

    private var limit: Int
    private var bucket: TokenBucket

    package init(limit: Int) {
        self.limit = limit
        bucket = TokenBucket(perSecond: limit, burst: limit)
    }

    /// Sets another limit, effective from now on.
    package mutating func setLimit(_ limit: Int) {
        self.limit = limit
        bucket.change(perSecond: limit, burst: limit, staysFull: false)
    }

    /// Takes a request.
    /// - Returns: false when it must wait.
    package mutating func take(now: LocalTime) -> Bool { bucket.take(now: now) }

    /// Takes what a batch costs beyond its first request, which was taken when its head came. Only one batch leaves a
    /// debt: what came meanwhile must wait until that is paid.
    /// - Returns: false when it must wait.
    package mutating func takeBatch(_ cost: Int, now: LocalTime) -> Bool {
        guard bucket.thousandths(now: now) >= 0 else { return false }
        bucket.charge(cost - 1)
        return true
    }

    /// Counts what a request costs beyond 1.
    package mutating func charge(_ cost: Int) { bucket.charge(cost) }

    /// What is left.
    package mutating func state(now: LocalTime) -> State {
        let left = bucket.thousandths(now: now), second = limit * 1000
        let missing = max(0, (left >= 1000 ? second : 1000) - left)
        return State(limit: limit, remaining: max(0, left / 1000), reset: (missing + second - 1) / second)
    }
}
