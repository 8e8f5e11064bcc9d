/// A bound on acts per second that forgives bursts: each act takes a token, and tokens come back at a steady rate.
package struct TokenBucket: Sendable {
    // Narrow, because every session has several buckets.
    private var perSecond: Int32
    private var burst: Int32
    /// Thousandths of tokens, so that rates that are no divisor of 1,000 add up; below zero what was taken in advance.
    private var tokens: Int
    /// `.min` before the first act.
    private var filledAt = Int64.min

    /// A bucket.
    /// - Parameters:
    ///   - perSecond: tokens that come back in a second.
    ///   - burst: tokens that it holds; at least as many as come back in a second.
    ///   - tokens: what is in it; default all that it holds.
    package init(perSecond: Int, burst: Int, tokens: Int? = nil) {
        self.perSecond = Int32(clamping: perSecond)
        self.burst = Int32(clamping: max(burst, perSecond))
        let most = Int(self.burst)
        self.tokens = min(tokens ?? most, most) * 1000
    }

    /// Other bounds; a bucket that was full is full again.
    package mutating func change(perSecond: Int, burst: Int) {
        let wasFull = tokens == full
        self.perSecond = Int32(clamping: perSecond)
        self.burst = Int32(clamping: max(burst, perSecond))
        tokens = wasFull ? full : min(tokens, full)
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
        let rate = Int(perSecond)
        return tokens >= 0 ? 0 : Int64((-tokens + rate - 1) / rate)
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
        let milliseconds = filledAt == .min ? 0 : min(max(0, now - filledAt), Int64(burst) * 2000)
        tokens = min(full, tokens + Int(milliseconds) * Int(perSecond))
        filledAt = now
    }

    /// Thousandths of tokens in a full bucket.
    private var full: Int { Int(burst) * 1000 }
}
