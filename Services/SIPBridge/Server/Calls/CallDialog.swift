internal import Glibc
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import SignalingProtocol

/// The SIP dialog of a call through a trunk. It answers the challenges of the trunk.
@SIPThread
final class CallDialog {
    let sip: SIPDialog
    let trunk: SIPTrunk
    private let logger: Logger
    private var digest: DigestClient?

    /// - Parameter logger: the logger of the call.
    init(_ sip: SIPDialog, trunk: SIPTrunk, logger: Logger) {
        self.sip = sip
        self.trunk = trunk
        self.logger = logger
        digest = trunk.credentials.map { DigestClient(credentials: $0) }
    }

    /// The header fields with the credentials for the next request.
    func authorization(_ method: String) -> [SIPHeaderField] {
        digest?.headers(method: method, uri: sip.target, cnonce: SecureRandom.hex(bytes: 8)) ?? []
    }

    /// Whether a final response is a challenge that we can answer by repeating the request.
    func isChallenge(_ response: SIPMessage) -> Bool {
        guard response.status == 401 || response.status == 407 else {
            digest?.concluded()
            return false
        }
        return digest?.challenged(by: response) ?? false
    }

    /// Sends a request; repeats it for each challenge that we can answer.
    /// - Parameter completion: receives the final response, or the reason why there is none.
    func request(
        _ method: String, headers: [SIPHeaderField] = [], body: SIPBody? = nil,
        completion: @escaping (Result<SIPMessage, DialogRequestError>) -> Void
    ) {
        do {
            try sip.request(method, headers: headers + authorization(method), body: body) { [self] event in
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

    /// Takes over the Contact of a message that refreshes the dialog's target.
    func updateTarget(_ message: SIPMessage) {
        do {
            try sip.update(target: message)
        } catch {
            logger.warning("could not use a Contact; keeping the old target", metadata: ["error": "\(error)"])
        }
    }
}

/// A ``DialogFailure`` as an error.
struct DialogRequestError: Error {
    let failure: DialogFailure

    init(_ failure: DialogFailure) { self.failure = failure }
}

extension DialogFailure {
    init(errno code: Int32) { self = code == ETIMEDOUT ? .timedOut : .unreachable }
}

extension SIPTrunk {
    /// The credentials for the trunk's challenges; nil unless both user and secret are set.
    var credentials: DigestCredentials? {
        guard let authUser, let secret else { return nil }
        return DigestCredentials(username: authUser, password: secret)
    }
}
