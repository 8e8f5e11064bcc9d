/// Detects that a call's RTP stream has stopped, which is how a vanished peer shows: SIP alone would not tell.
package struct MediaWatch: Equatable, Sendable {
    /// How long the first packet may take, ms.
    package static let firstPacketMilliseconds: Int64 = 30_000
    /// How long a stream that began may pause, ms.
    package static let silenceMilliseconds: Int64 = 60_000

    private var isExpecting: Bool
    private var hasHeard = false
    /// When the last packet came, or waiting for the first began.
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
