internal import Logging
internal import SIPBridgeLogic
internal import SignalingProtocol

/// Our requests in the dialog, and the handling of session descriptions.
extension PhoneCallDriver {
    // MARK: - Digest

    /// The header fields with the credentials for the next request.
    func authorization(_ method: String) -> [SIPHeaderField] {
        digest?.headers(method: method, uri: dialog?.target ?? "", cnonce: SecureRandom.hex(bytes: 8)) ?? []
    }

    /// Whether a final response is a challenge that we can answer by repeating the request.
    func isChallenge(_ response: SIPMessage) -> Bool {
        guard response.status == 401 || response.status == 407 else {
            digest?.concluded()
            return false
        }
        return digest?.challenged(by: response) ?? false
    }

    // MARK: - Requests

    /// Sends a request in the dialog; repeats it for each challenge that we can answer.
    /// - Parameter completion: receives the final response, or the reason why there is none.
    func request(
        _ method: String, headers: [SIPHeaderField] = [], body: SIPBody? = nil,
        completion: @escaping (Result<SIPMessage, DialogRequestError>) -> Void
    ) {
        guard let dialog else { return completion(.failure(DialogRequestError(.unreachable))) }
        do {
            try dialog.request(method, headers: headers + authorization(method), body: body) { [self] event in
                switch event {
                case .provisional:
                    break
                case .final(let message):
                    if isChallenge(message) {
                        request(method, headers: headers, body: body, completion: completion)
                    } else {
                        completion(.success(message))
                    }
                case .failed(let code):
                    completion(.failure(DialogRequestError(DialogFailure(errno: code))))
                }
            }
        } catch {
            logger.warning("could not send a request", metadata: ["method": "\(method)", "error": "\(error)"])
            completion(.failure(DialogRequestError(.unreachable)))
        }
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
            body = SIPBody(type: "application/sdp", bytes: bytes)
        }
        let fields = [SIPCapabilities.allow, SIPCapabilities.supported] + headers.lines
        request(method, headers: fields, body: body) { [self] result in
            switch result {
            case .success(let message):
                if (200..<300).contains(message.status ?? 0) { updateTarget(message) }
                step(about: message) { $0.refreshAnswered(DialogResponse(message), dice: .random(in: 0 ... .max)) }
            case .failure(let error):
                step { $0.refreshFailed(error.failure) }
            }
        }
    }

    /// Takes over the Contact of a message that refreshes the dialog's target.
    func updateTarget(_ message: SIPMessage) {
        do {
            try dialog?.update(target: message)
        } catch {
            logger.warning("could not use a Contact; keeping the old target", metadata: ["error": "\(error)"])
        }
    }

    // MARK: - Descriptions

    /// Applies the peer's answer.
    func takeDescription() {
        guard let media else { return step { $0.descriptionTaken(false) } }
        let message = requestAtHand?.message ?? responseAtHand
        // Some peers send the answer only in a 183.
        let source = message.flatMap { $0.hasDescription ? $0 : nil } ?? (isUp ? nil : early)
        guard let source else {
            // A 2xx to a re-INVITE must contain a description; without one the session is not changed.
            let stays = isUp && requestAtHand == nil
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

/// A ``DialogFailure`` as an error.
struct DialogRequestError: Error {
    let failure: DialogFailure

    init(_ failure: DialogFailure) { self.failure = failure }
}
