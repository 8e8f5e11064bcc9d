/// Why a request or response that arrived went no further; the raw value is the metric's label.
enum SIPDropReason: String, CaseIterable {
    /// An ACK that is no good, or a request without a way back to its sender.
    case malformed
    /// A datagram that is no SIP message.
    case garbage
    /// More OPTIONS than the address may send.
    case tooManyOptions = "too_many_options"
    /// A connection beyond those that its address, strangers together, or everybody may have.
    case tooManyConnections = "too_many_connections"
    /// A response to nothing that was asked.
    case strayResponse = "stray_response"
    /// An answer could not be sent.
    case unsent
}
