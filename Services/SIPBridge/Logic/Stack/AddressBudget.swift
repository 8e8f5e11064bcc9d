/// How much each address may ask for: a bucket of tokens per address, for a bounded number of addresses.
package struct AddressBudget: Sendable {
    /// Tokens that an address gains in a second.
    package let perSecond: Double
    /// The most that it can save up.
    package let burst: Double
    /// The most addresses that are remembered. Past it, those that have saved up everything are forgotten, and if there are
    /// none the newcomer gets nothing: a flood from forged addresses must cost those, not memory.
    package let maxAddresses: Int

    private struct Bucket {
        var tokens: Double
        var time: UInt64
    }
    private var buckets: [String: Bucket] = [:]

    /// Makes a budget that nobody has used yet.
    package init(perSecond: Double, burst: Double, maxAddresses: Int) {
        self.perSecond = perSecond
        self.burst = burst
        self.maxAddresses = maxAddresses
    }

    /// Takes one token of an address; false when it has none.
    /// - Parameter now: ms of a monotonic clock.
    package mutating func take(_ address: String, now: UInt64) -> Bool {
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

    private func refilled(_ bucket: Bucket, now: UInt64) -> Bucket {
        let elapsed = Double(now - min(now, bucket.time)) / 1000
        return Bucket(tokens: min(burst, bucket.tokens + elapsed * perSecond), time: max(now, bucket.time))
    }

    private mutating func forgetIdle(now: UInt64) {
        buckets = buckets.filter { refilled($0.value, now: now).tokens < burst }
    }
}
