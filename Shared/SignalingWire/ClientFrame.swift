internal import SignalingProtocol

/// One text frame of a client: a JSON array `[name, argument]`. Source: wire protocol, sections 2 to 4.
public enum ClientFrame: Equatable, Sendable {
    /// Asks for a new session.
    case login(LoginRequest)
    /// Goes on with an old one.
    case lineLogin(LineLoginRequest)
    /// Asks for a `pong` with the same value.
    case ping(JSONValue)
    /// Calls a function.
    case call(CallRequest)

    /// Reads a frame.
    /// - Throws: `FrameError`.
    public init(decoding bytes: some Collection<UInt8>) throws(FrameError) {
        let json: JSONValue
        do {
            json = try JSONValue.parse(bytes)
        } catch {
            throw FrameError(.malformed, error.message)
        }
        guard case .array(let elements) = json, elements.count == 2, case .string(let name) = elements[0] else {
            throw FrameError(.shape, "a frame is an array of a name and one argument")
        }
        switch name {
        case "call2": self = .call(try CallRequest(elements[1]))
        case "ping": self = .ping(elements[1])
        case "login": self = .login(try LoginRequest(elements[1]))
        case "line_login": self = .lineLogin(try LineLoginRequest(elements[1]))
        default: throw FrameError(.unknownName, "unknown frame")
        }
    }
}

/// What a client logs in with; not checked yet.
public struct LoginRequest: Equatable, Sendable {
    /// The app id (`vid`); nil in the oldest clients, whose token names the app.
    public var app: String?
    /// The account; empty when missing.
    public var account: String
    /// The token; empty when missing.
    public var token: String
    /// The kind of client (`device`), at most ``deviceBytes`` of visible ASCII.
    public var device: String
    /// Whether the client takes pushed mailbox entries (wire protocol, section 12.18).
    public var push: Bool

    /// Bytes of `device` that are kept.
    public static let deviceBytes = 64

    init(_ argument: JSONValue) throws(FrameError) {
        guard case .object = argument else { throw FrameError(.shape, "the argument of login is an object") }
        app = argument.text("vid")
        account = argument.text("account") ?? ""
        token = argument.text("token") ?? ""
        let visible = (argument.text("device") ?? "").utf8.lazy.filter { (0x21...0x7E).contains($0) }
        device = String(decoding: visible.prefix(Self.deviceBytes), as: UTF8.self)
        push = argument["push"]?.isTrue ?? false
    }
}

/// What a client resumes its session with; not checked yet.
public struct LineLoginRequest: Equatable, Sendable {
    /// The session's line; empty when missing.
    public var line: String
    /// The channel that the client believes it is in.
    public var channel: String?
    /// The last `channel2` id the client saw, within ``eventIDs``; nil when it does not ask for what it missed.
    public var after: Int64?

    /// Ids that a client can have seen: what it computes with them stays exact, and so do our sums.
    static let eventIDs: ClosedRange<Int64> = 0...(1 << 53)

    init(_ argument: JSONValue) throws(FrameError) {
        guard case .object = argument else { throw FrameError(.shape, "the argument of line_login is an object") }
        line = argument.text("line") ?? ""
        channel = argument.text("channel")
        after = argument["after"]?.integer.flatMap { Self.eventIDs.contains($0) ? $0 : nil }
    }
}

/// A `call2`: a function to call; its arguments are not checked yet.
public struct CallRequest: Equatable, Sendable {
    /// The client's number of the call, as the raw text to be written back: clients compare its type and value.
    public var id: String
    /// The function's name.
    public var function: String
    /// Its arguments, an object unless the client errs.
    public var arguments: JSONValue

    /// Bytes of an id at most.
    static let idBytes = 32

    init(_ argument: JSONValue) throws(FrameError) {
        guard case .array(let parts) = argument, parts.count == 3, case .string(let function) = parts[0],
            case .number(let id) = parts[1], id.utf8.count <= Self.idBytes
        else { throw FrameError(.shape, "the argument of call2 is a function's name, a number and an object") }
        self.id = id
        self.function = function
        arguments = parts[2]
    }
}
