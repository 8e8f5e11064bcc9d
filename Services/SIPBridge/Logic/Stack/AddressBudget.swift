/// A rate limit per address: a token bucket for each of a bounded number of addresses.
package struct AddressBudget: Sendable {
    /// The number of tokens that an address gains per second.
    package let perSecond: Double
    /// The largest number of tokens that an address can accumulate.
    package let burst: Double
    /// The largest number of remembered addresses. Above it, addresses with a full bucket are forgotten; if there are
    /// none, a new address gets no token, so that a flood from forged addresses does not exhaust the memory.
    package let maxAddresses: Int

    private struct Bucket {
        var tokens: Double
        var time: LocalTime
    }
    private var buckets: [String: Bucket] = [:]

    /// Creates a limit without addresses.
    package init(perSecond: Double, burst: Double, maxAddresses: Int) {
        self.perSecond = perSecond
        self.burst = burst
        self.maxAddresses = maxAddresses
    }

    /// Takes one token of an address; false when it has none.
    package mutating func take(_ address: String, now: LocalTime) -> Bool {
        var bucket = buckets[address]
        if bucket == nil {
            if buckets.count >= maxAddresses { forgetIdle(now: now) }
            if buckets.count >= maxAddresses { return false }
            bucket = Bucket(tokens: burst, time: now)
        }
        guard var bucket else { return false }
        bucket = refilled(bucket, now: now)
        defer { buckets[address] = bucket }
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }

    private func refilled(_ bucket: Bucket, now: LocalTime) -> Bucket {
        let elapsed = max(.zero, now - bucket.time) / .seconds(1)
        return Bucket(tokens: min(burst, bucket.tokens + elapsed * perSecond), time: max(now, bucket.time))
    }

    private mutating func forgetIdle(now: LocalTime) {
        buckets = buckets.filter { refilled($0.value, now: now).tokens < burst }
    }
}
