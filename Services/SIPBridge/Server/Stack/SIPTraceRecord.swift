internal import SIPBridgeLogic

/// A message that was sent or received, for a trace.
struct SIPTraceRecord: Sendable {
    /// Whether we sent it.
    var isSent: Bool
    /// The sender.
    var source: SIPEndpoint
    /// The receiver.
    var destination: SIPEndpoint
    /// Its Call-ID; empty when it has none.
    var callID: String
    /// The message.
    var text: String
}
