internal import SignalingProtocol
internal import SignalingWire

/// One text frame of a gateway. Source: `Docs/protocol.md`, "Frames".
enum ServerMessage: Equatable {
    /// `login_ret`.
    case loginAnswer(Result<SessionAnswer, SignalingError>)
    /// `line_login_ret`.
    case resumeAnswer(SessionAnswer)
    /// `pong`.
    case pong
    /// `call2-ret`; on success the whole JSON object.
    case callAnswer(id: Int64, Result<JSONValue, SignalingError>)
    /// `notify msg`: the mailbox holds an entry of this version.
    case mailboxNotice(version: Int64)
    /// `notify recvmsg`: the entry itself.
    case mailboxEntry(version: Int64, line: String)
    /// `notify channel2`.
    case channelEvent(id: Int64, line: String)
    /// `close`: the session has ended.
    case close(String)
    /// A frame that this version does not know.
    case unknown

    /// A session as a gateway describes it in its answer to a login or resume.
    struct SessionAnswer: Equatable {
        var line: String
        var uid: UInt32
        var push: Bool
        var channel: String?
        var complete: Bool
    }

    /// Parses a frame.
    /// - Throws: `SignalingError` (1004) when the content does not have the shape that its name requires.
    init(decoding bytes: some Collection<UInt8>) throws(SignalingError) {
        guard case .array(let parts) = try JSONValue.parse(bytes), parts.count == 2, let name = parts[0].string else {
            throw Self.malformed
        }
        switch name {
        case "call2-ret": self = try Self.callAnswer(parts[1])
        case "notify": self = try Self.notification(parts[1])
        case "pong": self = .pong
        case "login_ret":
            let (error, json) = try Self.outcome(parts[1])
            if let error {
                self = .loginAnswer(.failure(error))
            } else {
                self = .loginAnswer(.success(try SessionAnswer(json)))
            }
        case "line_login_ret":
            let (error, json) = try Self.outcome(parts[1])
            if let error { throw error }
            self = .resumeAnswer(try SessionAnswer(json))
        case "close": self = .close(parts[1].string ?? parts[1].compactText)
        default: self = .unknown
        }
    }

    static let malformed = SignalingError(.wrongParameter, .malformed, "the gateway sent a malformed frame")

    private static func callAnswer(_ argument: JSONValue) throws(SignalingError) -> ServerMessage {
        guard case .array(let parts) = argument, parts.count == 3, let id = parts[0].integer else { throw malformed }
        let (error, json) = try outcome(.array(Array(parts[1...])))
        return .callAnswer(id: id, error.map(Result.failure) ?? .success(json))
    }

    private static func notification(_ argument: JSONValue) throws(SignalingError) -> ServerMessage {
        guard case .array(let parts) = argument, let kind = parts.first?.string else { return .unknown }
        switch kind {
        case "recvmsg":
            guard parts.count == 2, let text = parts[1].string, case .array(let entry) = try JSONValue.parse(text.utf8),
                entry.count == 2, let version = entry[0].integer, let line = entry[1].string
            else { throw malformed }
            return .mailboxEntry(version: version, line: line)
        case "msg":
            guard parts.count == 2, let version = parts[1].integer else { throw malformed }
            return .mailboxNotice(version: version)
        case "channel2":
            guard parts.count == 4, let id = parts[2].integer, let line = parts[3].string else { throw malformed }
            return .channelEvent(id: id, line: line)
        default:
            return .unknown
        }
    }

    /// Parses `[err, json]`: an error with its public code, or the object.
    private static func outcome(
        _ argument: JSONValue
    ) throws(SignalingError) -> (error: SignalingError?, json: JSONValue) {
        guard case .array(let parts) = argument, parts.count == 2, let word = parts[0].string,
            let text = parts[1].string
        else { throw malformed }
        let json = try JSONValue.parse(text.utf8)
        if word.isEmpty, json["result"] == .string("ok") { return (nil, json) }
        let reason = SignalingReason(rawValue: word.isEmpty ? json["reason"]?.string ?? "failed" : word)
        let code = json["code"]?.integer.flatMap { SignalingCode(rawValue: Int($0)) } ?? Self.code(of: reason)
        return (SignalingError(code, reason, json["message"]?.string ?? reason.rawValue), json)
    }

    /// The code for a refusal without one, as the hosted system sends it.
    private static func code(of reason: SignalingReason) -> SignalingCode {
        switch reason {
        case .tokenErrorExpired: .loginTokenExpired
        case .kick: .loginKicked
        case _ where reason.rawValue.hasPrefix("TokenError"): .loginTokenWrong
        default: .failed
        }
    }
}

extension ServerMessage.SessionAnswer {
    init(_ json: JSONValue) throws(SignalingError) {
        guard let line = json["line"]?.string, !line.isEmpty,
            let uid = json["uid"]?.integer.flatMap(UInt32.init(exactly:))
        else { throw ServerMessage.malformed }
        self.init(
            line: line, uid: uid, push: json["push"]?.isTrue ?? false, channel: json["channel"]?.string,
            complete: json["complete"]?.isTrue ?? false)
    }
}
