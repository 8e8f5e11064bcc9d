public import SignalingProtocol

extension GatewayEvent {
    /// Reads a publication on a gateway's topic.
    /// - Throws: `SignalingError` (1001, `bad_event`).
    public init(payload: some Collection<UInt8>) throws(SignalingError) {
        var fields = TextFields(payload, what: "a gateway event")
        switch try fields.next() {
        case "reply":
            let command = CommandID(try fields.next())
            switch try fields.next() {
            case "ok": self = .reply(command, .success(Array(fields.remainder)))
            case "error":
                let code = SignalingCode(rawValue: try fields.number(Int.self)) ?? .unknown
                let reason = try fields.next()
                self = .reply(command, .failure(SignalingError(code, reason, try fields.remainderText())))
            default: throw fields.bad()
            }
        case "mail":
            let session = SessionID(try fields.next())
            let version = try fields.number(Int64.self)
            let expiresAt = try fields.number(Int64.self)
            let line = try fields.remainderText()
            self = .mail(session, MailboxEntry(version: version, expiresAt: expiresAt, line: line))
        case "kick":
            let session = SessionID(try fields.next())
            self = .kicked(session, SignalingCode(rawValue: try fields.number(Int.self)) ?? .unknown)
        case "moved":
            self = .moved(SessionID(try fields.next()))
        default:
            throw fields.bad()
        }
    }

    /// The bytes that are published.
    public var payload: [UInt8] {
        switch self {
        case .reply(let command, .success(let fields)): Array("reply \(command) ok ".utf8) + fields
        case .reply(let command, .failure(let error)):
            Array("reply \(command) error \(error.code.rawValue) \(error.reason) \(error.message)".utf8)
        case .mail(let session, let entry):
            Array("mail \(session) \(entry.version) \(entry.expiresAt) \(entry.line)".utf8)
        case .kicked(let session, let code): Array("kick \(session) \(code.rawValue)".utf8)
        case .moved(let session): Array("moved \(session)".utf8)
        }
    }
}
