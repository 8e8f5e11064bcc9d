package import Pacing

/// Detects that a call's RTP stream has stopped, because a peer has vanished; SIP alone would not reveal that.
package struct MediaWatch: Equatable, Sendable {
    /// How long the first packet may take.
    package static let firstPacketLimit = Duration.seconds(30)
    /// How long a stream may pause.
    package static let silenceLimit = Duration.seconds(60)

    private var isExpecting: Bool
    private var hasHeard = false
    /// When the last packet arrived, or when the wait for the first one began.
    private var since: LocalTime

    /// Starts to wait.
    /// - Parameter isExpecting: false while either side is on hold, when silence is normal.
    package init(now: LocalTime, isExpecting: Bool) {
        since = now
        self.isExpecting = isExpecting
    }

    /// Called when a packet was accepted.
    package mutating func received(now: LocalTime) {
        hasHeard = true
        since = now
    }

    /// Called when the negotiated parameters have changed; after a hold the wait starts again.
    package mutating func setExpecting(_ isExpecting: Bool, now: LocalTime) {
        if isExpecting && !self.isExpecting { since = now }
        self.isExpecting = isExpecting
    }

    /// Whether the stream is regarded as lost.
    package func isExpired(now: LocalTime) -> Bool {
        isExpecting && now - since >= (hasHeard ? Self.silenceLimit : Self.firstPacketLimit)
    }
}
