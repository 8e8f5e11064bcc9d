package import Pacing

/// A rate limit per address: a token bucket for each of a bounded number of addresses.
package struct AddressBudget: Sendable {
    /// The largest number of remembered addresses. Above it, addresses with a full bucket are forgotten; if there are
    /// none, a new address gets no token, so that a flood from forged addresses does not exhaust the memory.
    package let maxAddresses: Int

    private let fresh: TokenBucket
    private var buckets: [String: TokenBucket] = [:]

    /// Creates a limit without addresses.
    /// - Parameters:
    ///   - perSecond: the number of tokens that an address gains per second.
    ///   - burst: the largest number of tokens that an address can accumulate.
    package init(perSecond: Int, burst: Int, maxAddresses: Int) {
        fresh = TokenBucket(perSecond: perSecond, burst: burst)
        self.maxAddresses = maxAddresses
    }

    /// Takes one token of an address; false when it has none.
    package mutating func take(_ address: String, now: LocalTime) -> Bool {
        if buckets[address] == nil, buckets.count >= maxAddresses {
            forgetIdle(now: now)
            if buckets.count >= maxAddresses { return false }
        }
        return buckets[address, default: fresh].take(now: now)
    }

    private mutating func forgetIdle(now: LocalTime) {
        buckets = buckets.filter { entry in
            var bucket = entry.value
            return !bucket.isFull(now: now)
        }
    }
}
