internal import SIPBridgeLogic

/// A message that was sent or received, for a trace.
struct SIPTraceRecord: Sendable {
    /// Whether we have sent it.
    var isSent: Bool
    /// The sender's address.
    var source: SIPEndpoint
    /// The receiver's address.
    var destination: SIPEndpoint
    /// The message's Call-ID; empty when it has none.
    var callID: String
    /// The message's text.
    var text: String
}
