/// Notices that no RTP comes any more (sip-facts 13).
package struct MediaWatch: Equatable, Sendable {
    /// How long the first packet may take.
    package static let firstPacketMilliseconds: Int64 = 30_000
    /// How long a stream may be silent after it began.
    package static let silenceMilliseconds: Int64 = 60_000

    private var isExpecting: Bool
    private var hasHeard = false
    /// When the last packet came, or the wait for one began.
    private var since: Int64

    /// Begins to wait.
    /// - Parameters:
    ///   - now: monotonic, ms.
    ///   - isExpecting: false while either side is on hold: then silence is no fault.
    package init(now: Int64, isExpecting: Bool) {
        since = now
        self.isExpecting = isExpecting
    }

    /// A packet was accepted.
    package mutating func received(now: Int64) {
        hasHeard = true
        since = now
    }

    /// The negotiation changed; after a hold the wait begins anew.
    package mutating func setExpecting(_ isExpecting: Bool, now: Int64) {
        if isExpecting && !self.isExpecting { since = now }
        self.isExpecting = isExpecting
    }

    /// Whether the stream counts as lost.
    package func isExpired(now: Int64) -> Bool {
        isExpecting && now - since >= (hasHeard ? Self.silenceMilliseconds : Self.firstPacketMilliseconds)
    }
}
