internal import CRe

/// RTP packets of one stream.
struct MediaCounts: Equatable, Sendable {
    /// Sent.
    var sent: UInt64 = 0
    /// Not sent: the system refused them.
    var unsent: UInt64 = 0
    /// Accepted.
    var received: UInt64 = 0
    /// Dropped, as they came from an address that is not the peer's; RTCP too.
    var strangers: UInt64 = 0
    /// Dropped, as they failed SRTP authentication or repeated an earlier packet.
    var unauthentic: UInt64 = 0
    /// Dropped, as they were no RTP.
    var malformed: UInt64 = 0

    init() {}

    init(_ counts: cre_rtp_counts) {
        sent = counts.sent
        unsent = counts.unsent
        received = counts.received
        strangers = counts.strangers
        unauthentic = counts.unauthentic
        malformed = counts.malformed
    }
}
