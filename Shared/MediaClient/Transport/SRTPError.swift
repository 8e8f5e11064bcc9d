/// Why a packet was not encrypted, or not decrypted.
enum SRTPError: Error, Hashable {
    /// The tag does not fit: not from who has the key, or changed on its way.
    case forged
    /// A packet of this index has been there. For a sender: its index does not go forward, and a nonce would be used
    /// again.
    case replayed
    /// The packet is older than the window of replays reaches.
    case tooOld
    /// The bytes are no packet: a header beyond its end, another version, RTCP that is not encrypted.
    case malformed
    /// A packet of one more source than the bound allows.
    case tooManySources
    /// A key has encrypted as many packets as it may. Source: RFC 7714, section 14.2.
    case exhausted
}
