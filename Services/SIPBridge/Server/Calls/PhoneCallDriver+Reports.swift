internal import BusProtocol
internal import Logging
internal import Pacing
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// The messages of a call to the invitation service.
extension PhoneCallDriver {
    /// A message to the invitation service; sent in order.
    enum Message {
        case invitation(InviteFromPhone)
        case report(PhoneReport)
    }

    /// The largest number of digits that wait to be reported; further ones are dropped.
    static let messageBound = 256

    /// Removes and returns the next message.
    func nextMessage() -> Message? { messages.isEmpty ? nil : messages.removeFirst() }

    /// Reports a digit that the telephone has sent.
    func report(digit: Character, by way: PhoneMetrics.DigitTransport) {
        guard machine.isUp, digits.admits(way) else { return }
        PhoneMetrics.shared.countReceived(way)
        guard messages.count < Self.messageBound else {
            PhoneMetrics.shared.reportsDropped.increment()
            logger.warning("dropping a digit: too many reports wait", metadata: ["bound": "\(Self.messageBound)"])
            return
        }
        enqueue(.message, CallExtraJSON.digit(digit))
    }

    func report(_ act: PhoneAct, _ note: DialogNote) {
        if let status = note.status, status >= 200 {
            record.status = status
            record.reason = note.phrase
        }
        switch act {
        case .claimed, .ringing, .message: break
        case .accepted: result = .answered
        case .refused: result = .refused
        case .failed: result = .failed
        case .ended(let code): if result != .answered, code != .success { result = .failed }
        }
        let extra = CallExtraJSON.text(act, note)
        logger.info("telephone", metadata: ["act": "\(act.name)", "extra": "\(extra)"])
        enqueue(act, extra)
    }

    /// Reports the end of a call that the invitation service may still hold.
    func reportLost() {
        let act = PhoneAct.ended(.inviteNetwork)
        enqueue(act, CallExtraJSON.text(act, DialogNote(.unreachable)))
    }

    private func enqueue(_ act: PhoneAct, _ extra: String) {
        messages.append(
            .report(PhoneReport(call: call, bridge: resources.bridge, act: act, extra: extra, record: record)))
        owner.sendReportsLater(of: self)
    }

    func inviteUser(extra: String, ring: Duration) {
        messages.append(
            .invitation(
                InviteFromPhone(
                    call: call, bridge: resources.bridge, extra: extra, ring: ring.wholeMilliseconds,
                    record: record)))
        owner.sendReportsLater(of: self)
    }
}

extension PhoneAct {
    /// The kind of act, for logs.
    var name: String {
        switch self {
        case .claimed: "claimed"
        case .ringing: "ringing"
        case .accepted: "accepted"
        case .refused: "refused"
        case .failed: "failed"
        case .ended: "ended"
        case .message: "message"
        }
    }
}
