package import SignalingProtocol
package import SignalingWire

/// Why a request of the server API was refused or has failed; answered as `application/problem+json` (RFC 9457).
package struct APIProblem: Error, Equatable, Sendable {
    package var code: APIErrorCode
    /// The reason as a sentence for people. Never contains a key, a token or a message's text.
    package var detail: String
    /// Where in the request the cause is, such as `items[2].message`; nil when it is no single value.
    package var field: String?
    /// What is allowed there, such as `0...8192 bytes`.
    package var bound: String?
    /// The methods that the path has, for ``APIErrorCode/methodNotAllowed``.
    package var allowed: [String] = []
    /// When to try again, in seconds.
    package var retryAfter: Int?
    /// The id of the request; nil before it is answered.
    package var requestID: String?

    package init(_ code: APIErrorCode, _ detail: String, field: String? = nil, bound: String? = nil) {
        self.code = code
        self.detail = detail
        self.field = field
        self.bound = bound
    }

    /// A value that is missing, of another type, or out of range.
    package static func invalid(_ field: String, _ bound: String) -> APIProblem {
        APIProblem(.invalidArgument, "\(field) must be \(bound)", field: field, bound: bound)
    }

    /// An error of the cluster.
    package init(_ error: SignalingError) {
        let code: APIErrorCode =
            switch error.reason {
            case .timeout: .timeout
            case .unavailable, .overloaded, .busy, .unknownOperation, .clusterLevel: .unavailable
            case .memoryFull: .memoryFull
            case .rateLimited: .rateLimited
            case .mailboxFull: .mailboxFull
            case .tooManyAttributes: .tooManyAttributes
            case .tooManyBans: .tooManyBans
            case .tooManyKeys: .tooManyKeys
            case .valueDiffers: .valueDiffers
            case .reinvite: .callPending
            case .wrongState: .wrongCallState
            case .settingsChanged: .settingsChanging
            case .unknownApp, .unknownKey, .unknownProcess, .notBanned, .noSuchMember, .unknownCall, .callEnded:
                .notFound
            case .tooManyCalls, .tooManyNewCalls, .appCalls, .appNewCalls: .tooManyCalls
            case .valueTooLarge, .nulCharacter, .unknownBuiltIn, .invalidBuiltIn, .readOnly, .specialChannel,
                .notAnInteger:
                .invalidArgument
            default: .failed
            }
        self.init(code, error.message)
        switch error.reason {
        case .rateLimited, .settingsChanged: retryAfter = 1
        case .overloaded: (retryAfter, bound) = (1, error.message)
        // Processes tell each other their levels every 5 s.
        case .clusterLevel: (retryAfter, bound) = (5, error.message)
        case .tooManyAttributes, .tooManyBans, .tooManyKeys: bound = error.message
        default: break
        }
        guard code == .invalidArgument else { return }
        bound = error.message
        field =
            switch error.reason {
            case .unknownBuiltIn, .readOnly, .specialChannel: "name"
            default: "value"
            }
    }

    /// The problem as an object.
    package var json: JSONValue {
        var members = [
            JSONMember("type", "/v1/errors/\(code.rawValue)"),
            JSONMember("title", code.meaning),
            JSONMember("status", code.status),
            JSONMember("code", code.rawValue),
            JSONMember("detail", detail),
        ]
        if let field { members.append(JSONMember("field", field)) }
        if let bound { members.append(JSONMember("bound", bound)) }
        if let requestID { members.append(JSONMember("requestId", requestID)) }
        return .object(members)
    }
}
