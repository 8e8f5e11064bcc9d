/// A bound on acts per second that forgives bursts: each act takes a token, and tokens come back at a steady rate.
package struct TokenBucket: Sendable {
    private var perSecond: Int
    private var burst: Int
    /// Thousandths of tokens, so that rates that are no divisor of 1,000 add up; below zero what was taken in advance.
    private var tokens: Int
    private var filledAt: Int64?

    /// A bucket.
    /// - Parameters:
    ///   - perSecond: tokens that come back in a second.
    ///   - burst: tokens that it holds; at least as many as come back in a second.
    ///   - tokens: what is in it; default all that it holds.
    package init(perSecond: Int, burst: Int, tokens: Int? = nil) {
        self.perSecond = perSecond
        self.burst = max(burst, perSecond)
        self.tokens = min(tokens ?? self.burst, self.burst) * 1000
    }

    /// Other bounds; a bucket that was full is full again.
    package mutating func change(perSecond: Int, burst: Int) {
        let wasFull = tokens == self.burst * 1000
        self.perSecond = perSecond
        self.burst = max(burst, perSecond)
        tokens = wasFull ? self.burst * 1000 : min(tokens, self.burst * 1000)
    }

    /// Takes a token.
    /// - Parameter now: milliseconds of a clock that never goes back.
    /// - Returns: false when there is none: the act must be refused.
    package mutating func take(now: Int64) -> Bool {
        fill(now)
        guard tokens >= 1000 else { return false }
        tokens -= 1000
        return true
    }

    /// Takes a token that may have yet to come.
    /// - Parameter now: milliseconds of a clock that never goes back.
    /// - Returns: milliseconds until it is there.
    package mutating func reserve(now: Int64) -> Int64 {
        fill(now)
        tokens -= 1000
        return tokens >= 0 ? 0 : Int64((-tokens + perSecond - 1) / perSecond)
    }

    /// Takes tokens for what has been done already, in advance if need be.
    package mutating func charge(_ count: Int) { tokens -= count * 1000 }

    /// Whether there is a token.
    /// - Parameter now: milliseconds of a clock that never goes back.
    package mutating func has(now: Int64) -> Bool {
        fill(now)
        return tokens >= 1000
    }

    private mutating func fill(_ now: Int64) {
        // More time than fills the bucket need not be counted: nothing overflows.
        let milliseconds = min(max(0, now - (filledAt ?? now)), Int64(burst) * 2000)
        tokens = min(burst * 1000, tokens + Int(milliseconds) * perSecond)
        filledAt = now
    }
}
