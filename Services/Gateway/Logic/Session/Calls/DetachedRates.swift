package import Pacing
package import SignalingProtocol

/// The rates of sessions whose connections have ended, kept until they would be fully refilled anyway.
package struct DetachedRates: Sendable {
    /// The largest number of sessions.
    static let bound = 65_536
    /// How long rates are kept: slightly longer than a bucket takes to fill at its default rate.
    static let time = LocalTime.Span(.seconds(6))

    private var rates: [SessionID: (rates: SessionRates, at: LocalTime)] = [:]
    private var lookedAt = LocalTime.distantPast

    /// Creates an empty table.
    package init() {}

    /// Stores the rates of a session whose connection has ended.
    package mutating func keep(_ left: SessionRates, of session: SessionID, now: LocalTime) {
        if now - lookedAt > Self.time || rates.count >= Self.bound {
            lookedAt = now
            rates = rates.filter { now - $0.value.at <= Self.time }
            // Still too many: sessions that are forgotten resume with the tokens of one second.
            if rates.count >= Self.bound { rates = [:] }
        }
        rates[session] = (left, now)
    }

    /// Removes and returns the rates of a session that is resumed; nil when none are kept.
    package mutating func take(_ session: SessionID) -> SessionRates? { rates.removeValue(forKey: session)?.rates }
}
