internal import BusProtocol
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// The facts about a new inbound call.
struct InboundCall {
    /// The call: its id, channel, called user and caller.
    var call: PhoneCall
    /// JSON text for the user.
    var extra: String
    /// The trunk that the call came through.
    var trunk: SIPTrunk
    /// How long the call may ring.
    var ring: Duration
}

/// Why an INVITE cannot become a call.
struct InboundRefusal: Error {
    /// The status of the response.
    var status: Int
    /// For the log.
    var why: String
}

/// A call from a telephone.
@SIPThread
final class InboundLeg: PhoneCallDriver {
    /// The caller's INVITE.
    let invite: SIPServerRequest
    private let facts: InboundCall
    /// Our answer to the INVITE's offer; nil if it has none.
    private let answer: SIPBody?

    /// Creates the call of an INVITE.
    /// - Throws: ``InboundRefusal`` when the INVITE cannot become a call.
    init(
        _ invite: SIPServerRequest, _ facts: InboundCall, resources: CallResources, owner: any PhoneCallOwner
    ) throws(InboundRefusal) {
        let dialog = try Self.dialog(of: invite)
        let (media, answer) = try Self.media(for: invite.message, facts.trunk, resources)
        self.invite = invite
        self.facts = facts
        self.answer = answer
        super.init(facts.call, .inbound, resources: resources, owner: owner)
        self.media = media
        noteCallID(dialog.callID, isTraced: facts.trunk.trace)
        self.dialog = CallDialog(dialog, trunk: facts.trunk, logger: logger)
        invite.onCancel = { [weak self] in self?.step { $0.callerCancelled() } }
    }

    private static func dialog(of invite: SIPServerRequest) throws(InboundRefusal) -> SIPDialog {
        do {
            return try invite.acceptDialog()
        } catch {
            throw InboundRefusal(status: 400, why: "\(error)")
        }
    }

    private static func media(
        for message: SIPMessage, _ trunk: SIPTrunk, _ resources: CallResources
    ) throws(InboundRefusal) -> (MediaSession, answer: SIPBody?) {
        guard message.body.isEmpty || message.hasDescription else {
            throw InboundRefusal(status: 415, why: "the body is no session description")
        }
        var media: MediaSession?
        do {
            let session = try resources.makeMedia(for: trunk)
            media = session
            session.signallingAddress = message.source.host
            return (session, message.hasDescription ? .description(try session.receiveOffer(message.body)) : nil)
        } catch {
            media?.stop()
            throw InboundRefusal(status: error.status, why: error.message)
        }
    }

    /// Begins the call.
    func begin() {
        step { $0.invited(SessionTimerFields(invite.message), hasOffer: answer != nil) }
    }

    // MARK: - Actions

    override func perform(_ action: InboundAction) {
        switch action {
        case .inviteUser: inviteUser(extra: facts.extra, ring: facts.ring)
        case .respond(let reply): respond(reply)
        case .accept(let headers): accept(headers)
        }
    }

    private func respond(_ reply: DialogReply) {
        if reply.status >= 300 {
            note(status: reply.status)
            // A cancelled call has this result from the start.
            if reply != .terminated { result = reply == .busy ? .refused : .failed }
        }
        self.reply(to: invite, reply.status, reply.headers)
    }

    private func accept(_ headers: SessionHeaders) {
        do {
            let body: SIPBody
            if let answer {
                body = answer
            } else {
                guard let media else { throw MediaError(code: .state, message: "the call has no media session") }
                body = .description(try media.makeOffer())
            }
            accepted = (invite, try invite.reply(200, headers: SIPCapabilities.session(headers), body: body))
            note(status: 200)
        } catch {
            logger.error("could not accept an INVITE", metadata: ["error": "\(error)"])
            step { $0.acceptanceFailed() }
        }
    }

    override func startMedia() {
        result = .answered
        super.startMedia()
    }
}
