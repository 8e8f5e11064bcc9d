/// A rate limiter that allows bursts: each act takes a token, and tokens are refilled at a steady rate.
package struct TokenBucket: Equatable, Sendable {
    // Narrow integers, because every session has several buckets.
    private var perSecond: Int32
    private var burst: Int32
    /// In thousandths of a token, so that no refill is lost to rounding; negative when tokens were taken in advance.
    private var tokens: Int
    /// When tokens were last refilled, in milliseconds of the local clock; `.min` before the first act.
    private var filledAt = Int64.min

    /// - Parameters:
    ///   - perSecond: tokens refilled per second.
    ///   - burst: the bucket's capacity, at least `perSecond`.
    ///   - tokens: tokens at the start; nil: a full bucket.
    package init(perSecond: Int, burst: Int, tokens: Int? = nil) {
        self.perSecond = Int32(clamping: perSecond)
        self.burst = Int32(clamping: max(burst, perSecond))
        let most = Int(self.burst)
        self.tokens = min(tokens ?? most, most) * 1000
    }

    /// Sets new limits.
    /// - Parameter staysFull: whether a full bucket has all tokens of the new capacity; otherwise nothing is gained.
    package mutating func change(perSecond: Int, burst: Int, staysFull: Bool = true) {
        let wasFull = staysFull && tokens == full
        self.perSecond = Int32(clamping: perSecond)
        self.burst = Int32(clamping: max(burst, perSecond))
        tokens = wasFull ? full : min(tokens, full)
    }

    /// Takes a token, if there is one.
    /// - Returns: false when the bucket is empty and the act must be refused.
    package mutating func take(now: LocalTime) -> Bool {
        fill(now)
        guard tokens >= 1000 else { return false }
        tokens -= 1000
        return true
    }

    /// Takes a token, in advance if the bucket is empty.
    /// - Returns: how long to wait before the act.
    package mutating func reserve(now: LocalTime) -> Duration {
        fill(now)
        tokens -= 1000
        let rate = Int(perSecond)
        return tokens >= 0 ? .zero : .milliseconds((-tokens + rate - 1) / rate)
    }

    /// Takes tokens for acts that are already done; the balance may become negative.
    package mutating func charge(_ count: Int) { tokens -= count * 1000 }

    /// Whether a token is available.
    package mutating func has(now: LocalTime) -> Bool {
        fill(now)
        return tokens >= 1000
    }

    /// Whether no token is missing.
    package mutating func isFull(now: LocalTime) -> Bool {
        fill(now)
        return tokens == full
    }

    /// What the bucket has, in thousandths of a token; negative when tokens were taken in advance.
    package mutating func thousandths(now: LocalTime) -> Int {
        fill(now)
        return tokens
    }

    private mutating func fill(_ time: LocalTime) {
        let now = time.milliseconds
        let milliseconds = filledAt == .min ? 0 : max(0, now - filledAt)
        // What does not fit into the product fills every bucket, whatever it owes.
        let (gain, isHuge) = Int(milliseconds).multipliedReportingOverflow(by: Int(perSecond))
        let (sum, isOver) = tokens.addingReportingOverflow(gain)
        tokens = isHuge || isOver ? full : min(full, sum)
        filledAt = now
    }

    /// The capacity in thousandths of a token.
    private var full: Int { Int(burst) * 1000 }
}
