internal import Logging
internal import SIPBridgeLogic
internal import SignalingProtocol

/// Our messages in the dialog, and the handling of session descriptions.
extension PhoneCallDriver {
    // MARK: - Requests

    /// Sends a request in the dialog.
    /// - Parameter completion: receives the final response, or the reason why there is none.
    func request(
        _ method: String, headers: [SIPHeaderField] = [], body: SIPBody? = nil,
        completion: @escaping (Result<SIPMessage, DialogRequestError>) -> Void
    ) {
        guard let dialog else { return completion(.failure(DialogRequestError(.unreachable))) }
        dialog.request(method, headers: headers, body: body, completion: completion)
    }

    func sendBye() {
        request("BYE") { [self] _ in step { $0.byeAnswered() } }
    }

    /// Refreshes the session: by UPDATE without a description, or by re-INVITE with the current one.
    func refresh(_ method: String, _ headers: SessionHeaders) {
        var body: SIPBody?
        if method == "INVITE" {
            guard let bytes = try? media?.makeOffer() else {
                return step { $0.refreshFailed(.unreachable) }
            }
            body = .description(bytes)
        }
        request(method, headers: SIPCapabilities.session(headers), body: body) { [self] result in
            switch result {
            case .success(let message):
                if (200..<300).contains(message.status ?? 0) { dialog?.updateTarget(message) }
                step(about: .response(message)) {
                    $0.refreshAnswered(DialogResponse(message), dice: .random(in: 0 ... .max))
                }
            case .failure(let error):
                step { $0.refreshFailed(error.failure) }
            }
        }
    }

    /// Handles a further 2xx to our INVITE: a copy, or one of another telephone.
    func answeredAgain(_ message: SIPMessage) {
        step(about: .response(message)) { $0.answeredAgain(tag: message.to.tag ?? "") }
    }

    func acknowledge(_ tag: String, _ message: DialogMessage?) {
        guard case .response(let response) = message else { return excluded("an ACK for no response") }
        guard let dialog else { return excluded("an ACK without a dialog") }
        do {
            try self.dialog(of: response, tag: tag, own: dialog.sip)
                .acknowledge(response, headers: dialog.authorization("ACK"))
        } catch {
            logger.warning("could not acknowledge a 2xx", metadata: ["error": "\(error)"])
        }
    }

    // MARK: - Responses

    /// Responds to the peer's request that an event is about.
    func respond(to message: DialogMessage?, _ reply: DialogReply) {
        guard case .request(let request) = message else { return excluded("a response to no request") }
        self.reply(to: request, reply.status, reply.headers)
    }

    func answerOffer(_ offer: DialogOffer, _ headers: SessionHeaders, _ message: DialogMessage?) {
        guard case .request(let request) = message else { return excluded("an answer to no offer") }
        guard let media else { return step { $0.offerAnswered(false) } }
        do throws(MediaError) {
            let bytes = offer.hasDescription ? try media.receiveOffer(request.message.body) : try media.makeOffer()
            dialog?.updateTarget(request.message)
            let sent = reply(to: request, 200, SIPCapabilities.session(headers), .description(bytes))
            if offer.kind == .reinvite, let sent { accepted = (request, sent) }
            step { $0.offerAnswered(true) }
        } catch {
            logger.notice("refusing a later offer", metadata: ["error": "\(error.message)"])
            reply(to: request, error.status)
            step { $0.offerAnswered(false) }
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

    /// Sends a response.
    /// - Returns: its bytes; nil if it could not be sent.
    @discardableResult
    func reply(
        to request: SIPServerRequest, _ status: Int, _ headers: [SIPHeaderField] = [], _ body: SIPBody? = nil
    ) -> [UInt8]? {
        do {
            return try request.reply(status, headers: headers, body: body)
        } catch {
            logger.warning("could not send a response", metadata: ["status": "\(status)", "error": "\(error)"])
            return nil
        }
    }

    // MARK: - Descriptions

    /// Applies the peer's answer.
    /// - Parameter message: the 2xx or ACK that contains it.
    func takeDescription(_ message: DialogMessage?) {
        guard let media else { return step { $0.descriptionTaken(false) } }
        guard let message else { return excluded("no message has the description") }
        guard let source = message.content.hasDescription ? message.content : earlyDescription else {
            // A 2xx to a re-INVITE must contain a description; without one the session is not changed.
            var stays = false
            if case .response = message { stays = isUp }
            if !stays { logger.notice("the answer has no session description") }
            return step { $0.descriptionTaken(stays) }
        }
        media.signallingAddress = source.source.host
        do {
            try media.receiveAnswer(source.body)
            step { $0.descriptionTaken(true) }
        } catch {
            logger.notice("could not apply a session description", metadata: ["error": "\(error.message)"])
            step { $0.descriptionTaken(false) }
        }
    }
}

extension SIPBody {
    /// A session description.
    static func description(_ bytes: [UInt8]) -> SIPBody { SIPBody(type: "application/sdp", bytes: bytes) }
}

extension SIPMessage {
    /// Whether the body is a session description.
    var hasDescription: Bool { !body.isEmpty && contentType == "application/sdp" }
}

extension SIPCapabilities {
    /// The header fields of a message that changes the session, or of the answer to it.
    static func session(_ headers: SessionHeaders) -> [SIPHeaderField] { [allow, supported] + headers.lines }
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

extension DialogResponse {
    init(_ message: SIPMessage, isAnswerable: Bool = false) {
        self.init(
            status: message.status ?? 0, phrase: message.reason, tag: message.to.tag ?? "",
            session: SessionTimerFields(message), isAnswerable: isAnswerable)
    }
}

extension SessionTimerFields {
    init(_ message: SIPMessage) {
        func joined(_ name: String) -> String? {
            let values = message.headers(name)
            return values.isEmpty ? nil : values.joined(separator: ",")
        }
        let supported = (joined("Supported") ?? "") + "," + (joined("Require") ?? "")
        self.init(
            sessionExpires: message.header("Session-Expires"), minimum: message.header("Min-SE"),
            supported: supported, allow: joined("Allow"))
    }
}

/// The message that an event of a dialog is about. The event's actions are performed with it.
@SIPThread
enum DialogMessage {
    /// A request of the peer.
    case request(SIPServerRequest)
    /// A response to a request of ours.
    case response(SIPMessage)

    /// The message, in either direction.
    var content: SIPMessage {
        switch self {
        case .request(let request): request.message
        case .response(let response): response
        }
    }
}
