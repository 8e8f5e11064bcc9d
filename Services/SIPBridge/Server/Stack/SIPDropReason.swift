/// Why a message that arrived was dropped; the raw value is the metric's label.
enum SIPDropReason: String, CaseIterable {
    /// A malformed ACK, or a request whose response could not reach its sender.
    case malformed
    /// A datagram that is no SIP message.
    case garbage
    /// An OPTIONS beyond the address's rate limit.
    case tooManyOptions = "too_many_options"
    /// A connection beyond the bound for its address, for strangers together, or for all.
    case tooManyConnections = "too_many_connections"
    /// A response without a transaction.
    case strayResponse = "stray_response"
    /// A request whose response could not be sent.
    case unsent
}
