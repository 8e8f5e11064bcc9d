internal import CRe

/// Numbers of packets of one RTP stream.
struct MediaCounts: Equatable, Sendable {
    /// Sent packets.
    var sent: UInt64 = 0
    /// Packets that the system refused to send.
    var unsent: UInt64 = 0
    /// Accepted packets.
    var received: UInt64 = 0
    /// Dropped packets from addresses other than the peer's, including RTCP.
    var strangers: UInt64 = 0
    /// Dropped packets that failed SRTP authentication or repeated an earlier packet.
    var unauthentic: UInt64 = 0
    /// Dropped packets that are not RTP.
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
