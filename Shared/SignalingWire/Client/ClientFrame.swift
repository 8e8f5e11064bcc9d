package import SignalingProtocol

/// One text frame of a client: a JSON array `[name, argument]`. Source: `Docs/protocol.md`, "Frames".
package enum ClientFrame: Equatable, Sendable {
    /// Asks for a new session.
    case login(LoginRequest)
    /// Resumes an earlier session.
    case lineLogin(LineLoginRequest)
    /// Asks for a `pong` with the same value.
    case ping(JSONValue)
    /// Calls a function.
    case call(CallRequest)
    /// Opens the socket for media calls, without a session.
    case mediaHello(MediaHello)
    /// Calls a media function. Indirect, because its arguments are large, and each frame would take up their space.
    indirect case media(MediaRequest)

    /// Reads a frame.
    /// - Parameter line: the line of the connection's session, which calls must carry; empty before login.
    /// - Throws: `FrameError`.
    ///
    /// Takes an array, not any collection: the compiler does not specialize generic code across modules, and
    /// unspecialized this takes a third longer.
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
            throw FrameError(.shape, "a frame must be an array of a name and one argument")
        }
        if outline.isString(name, "call2") {
            self = try Self.call(outline, argument, line: line)
        } else if outline.isString(name, "ping") {
            self = .ping(outline.value(at: argument))
        } else if outline.isString(name, "login") {
            self = .login(try LoginRequest(outline.value(at: argument)))
        } else if outline.isString(name, "line_login") {
            self = .lineLogin(try LineLoginRequest(outline.value(at: argument)))
        } else if outline.isString(name, "media_hello") {
            self = .mediaHello(try MediaHello(outline.value(at: argument)))
        } else {
            throw FrameError(.unknownName, "unknown frame")
        }
    }

    private static func call(
        _ outline: JSONOutline, _ argument: JSONOutline.Place, line: String
    ) throws(FrameError) -> ClientFrame {
        guard let (function, id, arguments) = outline.triple(at: argument), outline.kind(of: function) == .string,
            outline.kind(of: id) == .number, outline.text(at: id).count <= CallRequest.idBytes
        else {
            throw FrameError(
                .shape, "the argument of call2 must be an array of a function's name, a number and an object")
        }
        let name = outline.value(at: function).string ?? ""
        let number = String(decoding: outline.text(at: id), as: UTF8.self)
        // Most calls have nothing to do with media; their names are not compared with all of those.
        if name.utf8.starts(with: MediaCall.Function.prefix.utf8), let media = MediaCall.Function(rawValue: name) {
            let arguments = MediaArguments(outline.value(at: arguments))
            let call = Result { () throws(MediaRefusal) in try MediaCall(media, arguments, line: line) }
            return .media(MediaRequest(id: number, call: call))
        }
        let call = Result { () throws(SignalingError) in
            try ClientCall(name, CallArguments(outline: outline, object: arguments), line: line)
        }
        return .call(CallRequest(id: number, call: call))
    }
}

/// The arguments of `login`, not validated yet.
package struct LoginRequest: Equatable, Sendable {
    /// The app id (`vid`); nil in the oldest clients, whose token names the app.
    package var app: String?
    /// The account; empty when missing.
    package var account: String
    /// The token; empty when missing.
    package var token: String
    /// The kind of client (`device`), at most ``deviceBytes`` of visible ASCII.
    package var device: String
    /// Whether the client takes pushed mailbox entries (`Docs/protocol.md`).
    package var push: Bool

    /// Longer values of `device` are cut to this many bytes.
    package static let deviceBytes = 64

    init(_ argument: JSONValue) throws(FrameError) {
        guard case .object = argument else { throw FrameError(.shape, "the argument of login must be an object") }
        app = argument.text("vid")
        account = argument.text("account") ?? ""
        token = argument.text("token") ?? ""
        let visible = (argument.text("device") ?? "").utf8.lazy.filter { (0x21...0x7E).contains($0) }
        device = String(decoding: visible.prefix(Self.deviceBytes), as: UTF8.self)
        push = argument["push"]?.isTrue ?? false
    }
}

/// The arguments of `line_login`, not validated yet.
package struct LineLoginRequest: Equatable, Sendable {
    /// The session's line; empty when missing.
    package var line: String
    /// The channel that the client believes it is in.
    package var channel: String?
    /// The last `channel2` id the client saw, within ``eventIDs``; nil when it does not ask for what it missed.
    package var after: Int64?

    /// The ids that are accepted: JavaScript clients represent them exactly, and our sums cannot overflow.
    static let eventIDs: ClosedRange<Int64> = 0...(1 << 53)

    init(_ argument: JSONValue) throws(FrameError) {
        guard case .object = argument else { throw FrameError(.shape, "the argument of line_login must be an object") }
        line = argument.text("line") ?? ""
        channel = argument.text("channel")
        after = argument["after"]?.integer.flatMap { Self.eventIDs.contains($0) ? $0 : nil }
    }
}

/// A `call2`: a function to call.
package struct CallRequest: Equatable, Sendable {
    /// The number that the client gave the call, as raw JSON text. It is echoed unchanged, because clients
    /// compare both its type and its value.
    package var id: String
    /// The parsed call, or the error to answer.
    package var call: Result<ClientCall, SignalingError>

    /// The most bytes an id may have.
    fileprivate static let idBytes = 32
}
