/// `To` tags: hard to guess, yet the same for each retransmission of a request to this process.
enum SIPTag {
    static func text(of identity: [UInt8], secret: String) -> String {
        // The standard hasher is SipHash with a key of the process.
        var hasher = Hasher()
        hasher.combine(secret)
        hasher.combine(identity)
        return String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 16)
    }
}
