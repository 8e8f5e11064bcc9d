internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol

/// The facts about a new inbound call.
struct InboundCall {
    /// The called user.
    var user: UserKey
    /// The caller, as shown to the user.
    var phone: Account
    /// JSON text for the user.
    var extra: String
    /// The trunk that the call came through.
    var trunk: SIPTrunk
    /// How long the caller is willing to wait; nil when unknown.
    var ring: Duration?
}

/// Calls from a telephone, and the peer's requests in calls of both directions.
extension PhoneCallDriver {
    /// Starts the call of an INVITE, or refuses one that cannot become a call.
    func begin(_ request: SIPServerRequest, _ inbound: InboundCall) {
        let message = request.message
        inviteRequest = request
        request.onCancel = { [weak self] in self?.step { $0.callerCancelled() } }
        trunk = inbound.trunk
        invitationExtra = inbound.extra
        ring = inbound.ring
        noteCallID(message.callID, isTraced: inbound.trunk.trace)
        if inbound.trunk.trace { trace(message) }
        digest = inbound.trunk.authUser.flatMap { user in
            inbound.trunk.secret.map { DigestClient(credentials: DigestCredentials(username: user, password: $0)) }
        }
        do {
            dialog = try request.acceptDialog()
        } catch {
            logger.notice("could not create a dialog for an INVITE", metadata: ["error": "\(error)"])
            return reject(request, 400)
        }
        guard message.body.isEmpty || message.hasDescription else { return reject(request, 415) }
        do {
            let media = try makeMedia(inbound.trunk)
            media.signallingAddress = message.source.host
            self.media = media
            if message.hasDescription {
                answer = SIPBody(type: "application/sdp", bytes: try media.receiveOffer(message.body))
            }
        } catch {
            logger.notice("could not answer an offer", metadata: ["error": "\(error.message)"])
            return reject(request, error.status)
        }
        step { $0.invited(SessionTimerFields(message), hasOffer: message.hasDescription) }
    }

    private func reject(_ request: SIPServerRequest, _ status: Int) {
        reply(request, status, status == 415 ? [SIPCapabilities.accept] : [])
        media?.stop()
        media = nil
        PhoneMetrics.shared.count(direction, .failed)
        onClose?()
        onForget?()
        (onPrepare, onMessage, onClose, onForget) = (nil, nil, nil, nil)
    }

    // MARK: - Responses

    func respondInvite(_ reply: DialogReply) {
        guard let inviteRequest else { return }
        if reply.status >= 300 {
            note(status: reply.status)
            // A cancelled call has this result from the start.
            if reply != .terminated { result = reply == .busy ? .refused : .failed }
        }
        respond(to: inviteRequest, reply)
    }

    func respond(to request: SIPServerRequest, _ reply: DialogReply) {
        self.reply(request, reply.status, reply.headers)
    }

    func acceptInvite(_ headers: SessionHeaders) {
        guard let inviteRequest else { return }
        do {
            let body: SIPBody
            if let answer {
                body = answer
            } else {
                guard let media else { throw MediaError(code: .state, message: "the call has no media session") }
                body = SIPBody(type: "application/sdp", bytes: try media.makeOffer())
            }
            let fields = [SIPCapabilities.allow, SIPCapabilities.supported] + headers.lines
            accepted = (inviteRequest, try inviteRequest.reply(200, headers: fields, body: body))
            note(status: 200)
        } catch {
            logger.error("could not accept an INVITE", metadata: ["error": "\(error)"])
            step { $0.acceptanceFailed() }
        }
    }

    func resendAnswer() {
        guard let accepted else { return }
        do {
            try accepted.request.resend(accepted.bytes)
        } catch {
            logger.warning("could not repeat a 2xx", metadata: ["error": "\(error)"])
        }
    }

    func answerOffer(_ offer: DialogOffer, _ headers: SessionHeaders) {
        guard let request = requestAtHand, let media else { return step { $0.offerAnswered(false) } }
        do throws(MediaError) {
            let bytes = offer.hasDescription ? try media.receiveOffer(request.message.body) : try media.makeOffer()
            updateTarget(request.message)
            let fields = [SIPCapabilities.allow, SIPCapabilities.supported] + headers.lines
            let sent = reply(request, 200, fields, SIPBody(type: "application/sdp", bytes: bytes))
            if offer.kind == .reinvite, let sent { accepted = (request, sent) }
            step { $0.offerAnswered(true) }
        } catch {
            logger.notice("refusing a later offer", metadata: ["error": "\(error.message)"])
            reply(request, error.status)
            step { $0.offerAnswered(false) }
        }
    }

    @discardableResult
    private func reply(
        _ request: SIPServerRequest, _ status: Int, _ headers: [SIPHeaderField] = [], _ body: SIPBody? = nil
    ) -> [UInt8]? {
        do {
            return try request.reply(status, headers: headers, body: body)
        } catch {
            logger.warning("could not send a response", metadata: ["status": "\(status)", "error": "\(error)"])
            return nil
        }
    }

    // MARK: - The peer's requests

    /// Handles a request in the dialog.
    func received(_ request: SIPServerRequest) {
        let message = request.message
        if message.method == "ACK" {
            guard message.sequence == accepted?.request.message.sequence else { return }
            return step(about: request) { $0.acknowledged() }
        }
        guard dialog?.acceptsSequence(of: message) == true else {
            reply(request, 500)
            return
        }
        switch message.method {
        case "BYE": step(about: request) { $0.peerEnded() }
        case "INVITE", "UPDATE": offered(request)
        case "INFO": information(request)
        case "OPTIONS": reply(request, 200, SIPCapabilities.all)
        default: reply(request, 405, [SIPCapabilities.allow])
        }
    }

    private func offered(_ request: SIPServerRequest) {
        let message = request.message
        guard message.body.isEmpty || message.hasDescription else {
            reply(request, 415, [SIPCapabilities.accept])
            return
        }
        let kind: DialogOffer.Kind = message.method == "INVITE" ? .reinvite : .update
        step(about: request) {
            $0.offered(DialogOffer(kind, hasDescription: message.hasDescription), SessionTimerFields(message))
        }
    }

    private func information(_ request: SIPServerRequest) {
        guard !isOver else {
            reply(request, 481)
            return
        }
        let message = request.message
        guard let type = message.contentType else {
            // An empty INFO serves as a keep-alive.
            reply(request, message.body.isEmpty ? 200 : 415, message.body.isEmpty ? [] : [SIPCapabilities.accept])
            return
        }
        switch digits.receiver.receive(contentType: type, body: message.body) {
        case .digit(let event):
            reply(request, 200)
            report(digit: event.character, by: .info)
        case .noDigit: reply(request, 200)
        case .malformed: reply(request, 400)
        case .unsupportedType: reply(request, 415, [SIPCapabilities.accept])
        }
    }
}

extension MediaError {
    /// The status of the response to a request whose offer caused this error.
    var status: Int {
        switch code {
        case .malformed: 400
        case .tooLong, .unacceptable, .security, .state: 488
        case .system: 500
        }
    }
}
