internal import CRe

/// RTP packets of one stream.
struct MediaCounts: Equatable, Sendable {
    /// Went out.
    var sent: UInt64 = 0
    /// Could not be sent.
    var unsent: UInt64 = 0
    /// Were taken.
    var received: UInt64 = 0
    /// Came from an address that is not the peer's; reports counted too.
    var strangers: UInt64 = 0
    /// Failed the SRTP check, or repeated an earlier packet.
    var unauthentic: UInt64 = 0
    /// Were no RTP.
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
