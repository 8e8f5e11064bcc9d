internal import Logging
internal import Pacing
internal import SIPBridgeLogic
internal import ServiceMetrics

/// Logs the SIP messages of traced calls, without their secrets.
@SIPThread
final class SIPTraceLog {
    /// The number of bytes of a message that are logged.
    private static let messageBound = 4096

    /// Whether the operator has requested traces of all calls; then every message is logged.
    private let tracesAll: Bool
    /// Limits the traced messages of all calls together per second, unless the operator traces all calls, so that
    /// callers and trunks cannot flood the log.
    private var budget = AddressBudget(perSecond: 100, burst: 1000, maxAddresses: 1)
    private let logger: Logger

    init(tracesAll: Bool, logger: Logger) {
        self.tracesAll = tracesAll
        self.logger = logger
    }

    func log(_ record: SIPTraceRecord) {
        guard tracesAll || budget.take("", now: SIPLoop.now) else {
            return PhoneMetrics.shared.tracesDropped.increment()
        }
        let text = String(decoding: record.text.utf8.prefix(Self.messageBound), as: UTF8.self)
        logger.info(
            "SIP trace",
            metadata: [
                "sip_call_id": "\(record.callID)", "direction": record.isSent ? "sent" : "received",
                "source": "\(record.source)", "destination": "\(record.destination)",
                "message": "\(SIPTraceText.redacted(text))",
            ])
    }
}

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
