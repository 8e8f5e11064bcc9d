internal import Logging
internal import SIPBridgeLogic

/// The peer's requests in the dialog.
extension PhoneCallDriver {
    /// Handles a request in the dialog.
    func received(_ request: SIPServerRequest) {
        let message = request.message
        if message.method == "ACK" {
            guard message.sequence == accepted?.request.message.sequence else { return }
            return step(about: .request(request)) { $0.acknowledged() }
        }
        guard dialog?.sip.acceptsSequence(of: message) == true else {
            reply(to: request, 500)
            return
        }
        switch message.method {
        case "BYE": step(about: .request(request)) { $0.peerEnded() }
        case "INVITE", "UPDATE": offered(request)
        case "INFO": information(request)
        case "OPTIONS": reply(to: request, 200, SIPCapabilities.all)
        default: reply(to: request, 405, [SIPCapabilities.allow])
        }
    }

    private func offered(_ request: SIPServerRequest) {
        let message = request.message
        guard message.body.isEmpty || message.hasDescription else {
            reply(to: request, 415, [SIPCapabilities.accept])
            return
        }
        let kind: DialogOffer.Kind = message.method == "INVITE" ? .reinvite : .update
        step(about: .request(request)) {
            $0.offered(DialogOffer(kind, hasDescription: message.hasDescription), SessionTimerFields(message))
        }
    }

    private func information(_ request: SIPServerRequest) {
        guard !isOver else {
            reply(to: request, 481)
            return
        }
        let message = request.message
        guard let type = message.contentType else {
            // An empty INFO serves as a keep-alive.
            reply(to: request, message.body.isEmpty ? 200 : 415, message.body.isEmpty ? [] : [SIPCapabilities.accept])
            return
        }
        switch digits.receiver.receive(contentType: type, body: message.body) {
        case .digit(let event):
            reply(to: request, 200)
            report(digit: event.character, by: .info)
        case .noDigit: reply(to: request, 200)
        case .malformed: reply(to: request, 400)
        case .unsupportedType: reply(to: request, 415, [SIPCapabilities.accept])
        }
    }
}
