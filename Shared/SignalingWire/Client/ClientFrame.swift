package import SignalingProtocol

/// One text frame of a client: a JSON array `[name, argument]`. Source: wire protocol, sections 2 to 4.
package enum ClientFrame: Equatable, Sendable {
    /// Asks for a new session.
    case login(LoginRequest)
    /// Goes on with an old one.
    case lineLogin(LineLoginRequest)
    /// Asks for a `pong` with the same value.
    case ping(JSONValue)
    /// Calls a function.
    case call(CallRequest)

    /// Reads a frame.
    /// - Parameter line: the connection's own, which calls must carry; empty before there is one.
    /// - Throws: `FrameError`.
    ///
    /// Takes an array, not any collection: across modules generic code is not specialized, which takes a third of the time.
    package init(decoding bytes: [UInt8], line: String = "") throws(FrameError) {
        self = try bytes.withUnsafeBufferPointer { Self.decode($0, line: line) }.get()
    }

    private static func decode(_ bytes: UnsafeBufferPointer<UInt8>, line: String) -> Result<ClientFrame, FrameError> {
        do {
            return try JSONScanner.scan(bytes) { scanner throws(SignalingError) in
                let outline = try JSONOutline(&scanner)
                return Result { () throws(FrameError) in try ClientFrame(outline, line: line) }
            }
        } catch {
            return .failure(FrameError(.malformed, error.message))
        }
    }

    private init(_ outline: JSONOutline, line: String) throws(FrameError) {
        guard let (name, argument) = outline.pair(at: outline.root), outline.kind(of: name) == .string else {
            throw FrameError(.shape, "a frame is an array of a name and one argument")
        }
        if outline.isString(name, "call2") {
            self = .call(try CallRequest(outline, argument, line: line))
        } else if outline.isString(name, "ping") {
            self = .ping(outline.value(at: argument))
        } else if outline.isString(name, "login") {
            self = .login(try LoginRequest(outline.value(at: argument)))
        } else if outline.isString(name, "line_login") {
            self = .lineLogin(try LineLoginRequest(outline.value(at: argument)))
        } else {
            throw FrameError(.unknownName, "unknown frame")
        }
    }
}

/// What a client logs in with; not checked yet.
package struct LoginRequest: Equatable, Sendable {
    /// The app id (`vid`); nil in the oldest clients, whose token names the app.
    package var app: String?
    /// The account; empty when missing.
    package var account: String
    /// The token; empty when missing.
    package var token: String
    /// The kind of client (`device`), at most ``deviceBytes`` of visible ASCII.
    package var device: String
    /// Whether the client takes pushed mailbox entries (wire protocol, section 12.18).
    package var push: Bool

    /// Bytes of `device` that are kept.
    package static let deviceBytes = 64

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
package struct LineLoginRequest: Equatable, Sendable {
    /// The session's line; empty when missing.
    package var line: String
    /// The channel that the client believes it is in.
    package var channel: String?
    /// The last `channel2` id the client saw, within ``eventIDs``; nil when it does not ask for what it missed.
    package var after: Int64?

    /// Ids that a client can have seen: what it computes with them stays exact, and so do our sums.
    static let eventIDs: ClosedRange<Int64> = 0...(1 << 53)

    init(_ argument: JSONValue) throws(FrameError) {
        guard case .object = argument else { throw FrameError(.shape, "the argument of line_login is an object") }
        line = argument.text("line") ?? ""
        channel = argument.text("channel")
        after = argument["after"]?.integer.flatMap { Self.eventIDs.contains($0) ? $0 : nil }
    }
}

/// A `call2`: a function to call.
package struct CallRequest: Equatable, Sendable {
    /// The client's number of the call, as the raw text to be written back: clients compare its type and value.
    package var id: String
    /// What is asked, or why it cannot be.
    package var call: Result<ClientCall, SignalingError>

    /// Bytes of an id at most.
    static let idBytes = 32

    init(_ outline: JSONOutline, _ argument: JSONOutline.Place, line: String) throws(FrameError) {
        guard let (function, id, arguments) = outline.triple(at: argument), outline.kind(of: function) == .string,
            outline.kind(of: id) == .number, outline.text(at: id).count <= Self.idBytes
        else { throw FrameError(.shape, "the argument of call2 is a function's name, a number and an object") }
        self.id = String(decoding: outline.text(at: id), as: UTF8.self)
        call = Result { () throws(SignalingError) in
            try ClientCall(
                outline.value(at: function).string ?? "", CallArguments(outline: outline, object: arguments), line: line
            )
        }
    }
}
