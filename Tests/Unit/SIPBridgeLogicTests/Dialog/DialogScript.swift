import BusProtocol
import SIPBridgeLogic
import SignalingProtocol

/// Feeds events into a dialog's state machine and describes its actions as short lines.
struct DialogScript {
    var machine = DialogStateMachine()

    // MARK: Where scripts begin

    static func claiming() -> DialogScript {
        var script = DialogScript()
        _ = script.machine.dial()
        return script
    }

    static func preparing() -> DialogScript {
        var script = claiming()
        _ = script.machine.claimAnswered(continues: true)
        return script
    }

    static func calling() -> DialogScript {
        var script = preparing()
        _ = script.machine.prepared(ring: .seconds(60))
        return script
    }

    static func ringing() -> DialogScript {
        var script = calling()
        _ = script.provisional(180)
        return script
    }

    /// An answered outbound call; by default its peer has no session timers and accepts UPDATE.
    static func up(_ session: SessionTimerFields = SessionTimerFields(), allow: String? = "INVITE, UPDATE")
        -> DialogScript
    {
        var script = ringing()
        var session = session
        session.allowsUpdate =
            SessionTimerFields(sessionExpires: nil, minimum: nil, supported: nil, allow: allow).allowsUpdate
        _ = script.final(200, session)
        _ = script.taken()
        return script
    }

    static func alerting(_ session: SessionTimerFields = SessionTimerFields(), hasOffer: Bool = true) -> DialogScript {
        var script = DialogScript()
        _ = script.machine.invited(session, hasOffer: hasOffer)
        _ = script.machine.invitationAnswered(continues: true)
        return script
    }

    static func answering(hasOffer: Bool = true) -> DialogScript {
        var script = alerting(hasOffer: hasOffer)
        _ = script.machine.ordered(.accept)
        return script
    }

    /// An inbound call that was answered and acknowledged.
    static func answered(_ session: SessionTimerFields = SessionTimerFields()) -> DialogScript {
        var script = alerting(session)
        _ = script.machine.ordered(.accept)
        _ = script.machine.acknowledged()
        return script
    }

    // MARK: Events

    mutating func act(_ event: (inout DialogStateMachine) -> [DialogAction]) -> [String] {
        event(&machine).map(Self.describe)
    }

    mutating func order(_ act: PhoneOrderAct, _ code: SignalingCode? = nil) -> [String] {
        self.act { $0.ordered(act, code: code) }
    }

    mutating func provisional(_ status: Int, tag: String = "peer") -> [String] {
        act { $0.provisional(DialogResponse(status: status, tag: tag)) }
    }

    mutating func final(
        _ status: Int, _ session: SessionTimerFields = SessionTimerFields(), tag: String = "peer",
        isAnswerable: Bool = false
    ) -> [String] {
        act {
            $0.final(
                DialogResponse(status: status, phrase: "said", tag: tag, session: session, isAnswerable: isAnswerable))
        }
    }

    mutating func taken(_ isUsable: Bool = true) -> [String] { act { $0.descriptionTaken(isUsable) } }

    mutating func fired(_ timer: DialogTimer) -> [String] { act { $0.timerFired(timer) } }

    mutating func refreshed(_ status: Int, _ session: SessionTimerFields = SessionTimerFields(), dice: UInt32 = 0)
        -> [String]
    {
        act { $0.refreshAnswered(DialogResponse(status: status, tag: "peer", session: session), dice: dice) }
    }

    mutating func offered(
        _ kind: DialogOffer.Kind, hasDescription: Bool = true, _ session: SessionTimerFields = SessionTimerFields()
    ) -> [String] {
        act { $0.offered(DialogOffer(kind, hasDescription: hasDescription), session) }
    }

    // MARK: Lines

    private static func describe(_ action: DialogAction) -> String {
        switch action {
        case .report(let act, let note): "report \(describe(act))\(describe(note))"
        case .outbound(let action): describe(action)
        case .inbound(let action): describe(action)
        case .acknowledge(let tag): "ACK \(tag)"
        case .takeDescription: "take description"
        case .startMedia: "start media"
        case .respond(let reply): describe(reply)
        case .answerOffer(let offer, let headers):
            "answer \(offer.kind)\(offer.hasDescription ? "" : " without offer")\(describe(headers))"
        case .resendAnswer: "200 again"
        case .sendUpdate(let headers): "UPDATE\(describe(headers))"
        case .sendReinvite(let headers): "re-INVITE\(describe(headers))"
        case .sendBye: "BYE"
        case .schedule(let timer, let after): "\(timer) in \(milliseconds(after))"
        case .cancel(let timer): "no \(timer)"
        case .close: "close"
        case .forget: "forget"
        }
    }

    private static func describe(_ action: OutboundAction) -> String {
        switch action {
        case .prepare: "prepare"
        case .sendInvite(let headers): "INVITE\(describe(headers))"
        case .sendCancel: "CANCEL"
        case .endFork(let tag): "BYE \(tag)"
        }
    }

    private static func describe(_ action: InboundAction) -> String {
        switch action {
        case .inviteUser: "invite user"
        case .respond(let reply): "invite: \(describe(reply))"
        case .accept(let headers): "invite: 200 with description\(describe(headers))"
        }
    }

    private static func milliseconds(_ span: Duration) -> Int64 {
        span.components.seconds * 1000 + span.components.attoseconds / 1_000_000_000_000_000
    }

    private static func describe(_ act: PhoneAct) -> String {
        switch act {
        case .claimed: "claimed"
        case .ringing: "ringing"
        case .accepted: "accepted"
        case .refused: "refused"
        case .failed(let code): "failed \(code.rawValue)"
        case .ended(let code): "ended \(code.rawValue)"
        case .message: "message"
        }
    }

    private static func describe(_ note: DialogNote) -> String {
        (note.reason.map { " \($0.rawValue)" } ?? "") + (note.status.map { " (\($0))" } ?? "")
    }

    private static func describe(_ reply: DialogReply) -> String {
        switch reply {
        case .refreshed(let headers): "200\(describe(headers))"
        case .intervalTooSmall(let minimum): "422 Min-SE: \(minimum.components.seconds)"
        case .retryLater(let pause): "500 Retry-After: \(pause.components.seconds)"
        case .trying, .ringing, .ok, .requestTimeout, .unavailable, .unknownDialog, .busy, .terminated, .notAcceptable,
            .pending, .unsupportedMediaType, .serviceUnavailable:
            "\(reply.status)"
        }
    }

    private static func describe(_ headers: SessionHeaders) -> String {
        headers.lines.map { " \($0.name): \($0.value)" }.joined()
    }

    /// The actions of every hang-up, the BYE last.
    static let leaving = ["no refresh", "no expiry", "no glare", "no retransmission", "no acknowledgement", "BYE"]
    /// The actions at the end of a dialog.
    static let over = ["close", "linger in 32000"]
}

extension SessionTimerFields {
    /// The session terms of a message with these `Session-Expires`, `Min-SE` and `Supported: timer` headers.
    static func timer(_ expires: String?, minimum: String? = nil, supported: Bool = true) -> SessionTimerFields {
        SessionTimerFields(
            sessionExpires: expires, minimum: minimum, supported: supported ? "timer" : nil, allow: "INVITE, UPDATE")
    }
}
