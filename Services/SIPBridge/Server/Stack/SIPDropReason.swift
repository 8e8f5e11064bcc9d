/// Why a received message was dropped; the raw value is the metric's label.
enum SIPDropReason: String, CaseIterable {
    /// A malformed ACK, or a request whose sender a response could not reach.
    case malformed
    /// A datagram that is not a SIP message.
    case garbage
    /// An OPTIONS above the address's rate limit.
    case tooManyOptions = "too_many_options"
    /// A connection above the bound for its address, for unknown addresses, or for all.
    case tooManyConnections = "too_many_connections"
    /// A response without a transaction.
    case strayResponse = "stray_response"
    /// A request whose response could not be sent.
    case unsent
}
