/// Detects that a call's RTP stream has stopped, because a peer has vanished; SIP alone would not reveal that.
package struct MediaWatch: Equatable, Sendable {
    /// How long the first packet may take, in ms.
    package static let firstPacketMilliseconds: Int64 = 30_000
    /// How long a stream may pause, in ms.
    package static let silenceMilliseconds: Int64 = 60_000

    private var isExpecting: Bool
    private var hasHeard = false
    /// When the last packet arrived, or when the wait for the first one began.
    private var since: Int64

    /// Starts to wait.
    /// - Parameters:
    ///   - now: ms of a monotonic clock.
    ///   - isExpecting: false while either side is on hold, when silence is normal.
    package init(now: Int64, isExpecting: Bool) {
        since = now
        self.isExpecting = isExpecting
    }

    /// Called when a packet was accepted.
    package mutating func received(now: Int64) {
        hasHeard = true
        since = now
    }

    /// Called when the negotiated parameters have changed; after a hold the wait starts again.
    package mutating func setExpecting(_ isExpecting: Bool, now: Int64) {
        if isExpecting && !self.isExpecting { since = now }
        self.isExpecting = isExpecting
    }

    /// Whether the stream is regarded as lost.
    package func isExpired(now: Int64) -> Bool {
        isExpecting && now - since >= (hasHeard ? Self.silenceMilliseconds : Self.firstPacketMilliseconds)
    }
}
