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
    private var left: Double
    /// When ``left`` was computed, in seconds of any clock.
    private var then: Double

    package init(limit: Int, now: Double) {
        self.limit = limit
        left = Double(limit)
        then = now
    }

    /// Sets another limit, effective from now on.
    package mutating func setLimit(_ limit: Int) { self.limit = limit }

    /// Takes a request.
    /// - Parameter now: in seconds of the clock of the initialiser.
    /// - Returns: false when it must wait.
    package mutating func take(now: Double) -> Bool {
        refill(now)
        guard left >= 1 else { return false }
        left -= 1
        return true
    }

    /// Takes what a batch costs beyond its first request, which was taken when its head came. Only one batch leaves a
    /// debt: what came meanwhile must wait until that is paid.
    /// - Returns: false when it must wait.
    package mutating func takeBatch(_ cost: Int, now: Double) -> Bool {
        refill(now)
        guard left >= 0 else { return false }
        left -= Double(cost - 1)
        return true
    }

    /// Counts what a request costs beyond 1.
    package mutating func charge(_ cost: Int) { left -= Double(cost) }

    /// What is left.
    package mutating func state(now: Double) -> State {
        refill(now)
        let goal = left >= 1 ? Double(limit) : 1
        let seconds = max(0, (goal - left) / Double(limit))
        return State(limit: limit, remaining: max(0, Int(left)), reset: Int(seconds.rounded(.up)))
    }

    private mutating func refill(_ now: Double) {
        left = min(Double(limit), left + max(0, now - then) * Double(limit))
        then = now
    }
}
