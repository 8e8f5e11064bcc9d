internal import BusProtocol
internal import Logging
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// Sends the messages of calls to the invitation service: those of one call in order, those of different calls
/// concurrently.
@SIPThread
final class CallReports {
    /// How often a report is sent when there is no reply; each attempt takes ``InvitationClient/patience``.
    private static let attempts = 3

    private let invitation: InvitationClient
    /// The ids of calls whose messages are being sent.
    private(set) var inProgress: Set<String> = []

    init(invitation: InvitationClient) { self.invitation = invitation }

    /// Sends a call's messages, including those added meanwhile. Returns at once if another task is doing that.
    func send(of driver: PhoneCallDriver) async {
        guard inProgress.insert(driver.call.id).inserted else { return }
        while let message = driver.nextMessage() {
            switch message {
            case .invitation(let invitation): await send(invitation, of: driver)
            case .report(let report): await send(report, of: driver)
            }
        }
        inProgress.remove(driver.call.id)
    }

    private func send(_ message: InviteFromPhone, of driver: PhoneCallDriver) async {
        switch await invitation.send(message) {
        case .success(let status):
            driver.step { $0.invitationAnswered(continues: status.continues) }
        case .failure(let error):
            driver.logger.notice("could not invite the user", metadata: ["error": "\(error)"])
            driver.step { $0.invitationAnswered(continues: false, code: error.code) }
            // Although there was no reply, the user may have been invited.
            if error == .timeout() { driver.reportLost() }
        }
    }

    private func send(_ report: PhoneReport, of driver: PhoneCallDriver) async {
        let continues = await continues(report, driver.logger)
        switch report.act {
        case .claimed: driver.step { $0.claimAnswered(continues: continues) }
        case .ringing, .accepted, .message:
            guard !continues else { return }
            driver.logger.info("the invitation service no longer has the call")
            driver.step { $0.reportRefused() }
        case .refused, .failed, .ended: break  // The call has ended in any case.
        }
    }

    /// Reports, and returns whether the invitation service still has the call; the report is repeated while there is no
    /// reply.
    private func continues(_ report: PhoneReport, _ logger: Logger) async -> Bool {
        for attempt in 1...Self.attempts {
            switch await invitation.send(report) {
            case .success(let status):
                return status.continues
            case .failure(let error):
                PhoneMetrics.shared.reportsDropped.increment()
                logger.warning(
                    "the invitation service did not accept a report",
                    metadata: ["act": "\(report.act.name)", "error": "\(error)", "attempt": "\(attempt)"])
                // A lost digit is no reason to end the call.
                if report.act == .message { return true }
            }
        }
        return false
    }
}
