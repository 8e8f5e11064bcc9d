package import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// Why there is no valid answer of an app's server; the raw value is the metric's label.
package enum HookFailure: String, Error, Sendable, CaseIterable {
    /// The host's name could not be resolved.
    case name
    /// All addresses of the host are in networks that the app may not use.
    case address
    /// No connection, or TLS failed.
    case connect
    /// No answer within the deadline.
    case timeout
    /// The connection ended without an answer, or the answer was no HTTP.
    case broken
    /// The answer was a redirection.
    case redirect
    /// The answer was another status than 200 to 299.
    case status
    /// The answer's body was too long or not one of the answers.
    case answer
    /// Not asked: too many questions were under way.
    case busy
    /// Not asked: too many questions of the client's address were under way.
    case share
    /// Not asked: too many questions in a row had failed, so that the breaker was open.
    case open

    /// Whether what is asked about is allowed for want of an answer. A client whose address exceeds its share is always
    /// refused: otherwise it would get its messages past the server by sending many at once.
    package func failsOpen(with hook: BeforeHook) -> Bool {
        switch self {
        case .share: false
        case .busy: hook.failsOpen && !hook.refusesBusy
        case .name, .address, .connect, .timeout, .broken, .redirect, .status, .answer, .open: hook.failsOpen
        }
    }
}

/// What an app's server has answered.
package enum HookAnswer: Equatable, Sendable {
    /// It may happen.
    case allow
    /// It may not.
    case deny
    /// The message may be sent, with this text.
    case rewrite(String)

    /// The bytes of an answer: enough for the longest text with each character escaped.
    package static let bytes = 65_536

    /// Reads the body of an answer: `{"answer":"allow"}`, `{"answer":"deny"}`, or for a message
    /// `{"answer":"rewrite","text":"..."}`.
    /// - Throws: ``HookFailure/answer`` when it is something else, or the text is too long.
    package init(_ body: [UInt8], at point: HookPoint) throws(HookFailure) {
        guard let value = try? JSONValue.parse(body) else { throw .answer }
        switch (value["answer"]?.string, point) {
        case ("allow", _): self = .allow
        case ("deny", _): self = .deny
        case ("rewrite", .send):
            guard let text = value["text"]?.string, text.utf8.count <= Limits.messageBytes else { throw .answer }
            self = .rewrite(text)
        default: throw .answer
        }
    }
}

/// What an answer, or the lack of one, means for what was asked about.
package enum HookVerdict: Equatable, Sendable {
    /// It may happen.
    case allowed
    /// The message may be sent, with this text.
    case rewritten(as: String)
    /// It is refused.
    case refused(SignalingError)

    /// - Parameter failsOpen: whether it is allowed when there is no valid answer.
    package init(_ result: Result<HookAnswer, HookFailure>, at point: HookPoint, failsOpen: Bool) {
        switch result {
        case .success(.allow): self = .allowed
        case .success(.rewrite(let text)): self = .rewritten(as: text)
        case .success(.deny):
            self = .refused(SignalingError(point.refusalCode, .denied, "the app's server does not allow it"))
        case .failure:
            self =
                failsOpen
                ? .allowed
                : .refused(
                    SignalingError(point.refusalCode, .unavailable, "the app's server gave no answer; try again"))
        }
    }
}

extension HookPoint {
    /// The code with which it is refused: that of the function's other failures.
    fileprivate var refusalCode: SignalingCode {
        switch self {
        case .login: .loginOther
        case .join: .joinOther
        case .send: .messageOther
        }
    }
}
