internal import Logging
internal import Metrics
internal import SIPBridgeLogic

/// Logs the SIP messages of traced calls, without their secrets.
@SIPThread
final class SIPTraceLog {
    /// The bytes of a message that are logged.
    private static let messageBound = 4096

    /// Whether the operator has all calls traced; then every message is logged.
    private let tracesAll: Bool
    /// Messages per second, of all calls together, that callers and trunks may have traced: a log is finite.
    private var budget = AddressBudget(perSecond: 100, burst: 1000, maxAddresses: 1)
    private let logger: Logger

    init(tracesAll: Bool, logger: Logger) {
        self.tracesAll = tracesAll
        self.logger = logger
    }

    func log(_ record: SIPTraceRecord) {
        guard tracesAll || budget.take("", now: SIPLoop.now) else { return PhoneMetrics.tracesDropped.increment() }
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
