package import SignalingProtocol

/// The rates of sessions whose connections have ended, until they would be full again anyway.
package struct LeftRates: Sendable {
    /// Sessions remembered at most.
    static let bound = 65_536
    /// How long rates are remembered: a little longer than a bucket takes to fill at its default rate.
    static let nanoseconds: UInt64 = 6_000_000_000

    private var rates: [SessionID: (rates: SessionRates, at: UInt64)] = [:]
    private var lookedAt: UInt64 = 0

    /// No sessions are remembered.
    package init() {}

    /// A session's connection has ended.
    /// - Parameter now: nanoseconds of a clock that never goes back.
    package mutating func keep(_ left: SessionRates, of session: SessionID, now: UInt64) {
        if now - lookedAt > Self.nanoseconds || rates.count >= Self.bound {
            lookedAt = now
            rates = rates.filter { now - $0.value.at <= Self.nanoseconds }
            // Still too many: forgotten sessions resume with what comes back in a second.
            if rates.count >= Self.bound { rates = [:] }
        }
        rates[session] = (left, now)
    }

    /// The session is resumed.
    /// - Returns: nil when nothing is known of it.
    package mutating func take(_ session: SessionID) -> SessionRates? { rates.removeValue(forKey: session)?.rates }
}
