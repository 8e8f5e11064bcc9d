internal import SignalingProtocol
internal import SignalingWire

/// The frames that a media client sends to its gateway. Source: `Docs/protocol.md`, "Media".
enum ControlRequest {
    static func hello(app: String) -> [UInt8] {
        frame(
            "media_hello",
            .object([
                JSONMember("vid", .string(app)), JSONMember("device", .string("swift")),
                JSONMember("sdk", .string("1.4.0")),
            ]))
    }

    static func ping(_ number: Int64) -> [UInt8] { frame("ping", .number(String(number))) }

    static func call(_ call: ControlCall, id: Int64, line: String) -> [UInt8] {
        let arguments = [JSONMember("line", .string(line))] + call.arguments
        return frame(
            "call2", .array([.string(call.function.rawValue), .number(String(id)), .object(arguments)]))
    }

    private static func frame(_ name: String, _ argument: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        JSONValue.array([.string(name), argument]).append(to: &bytes)
        return bytes
    }
}

/// A media call without the socket's line.
struct ControlCall: Equatable {
    /// Whom a call is about.
    struct Subject: Equatable {
        var channel: String
        var participant: String
        /// What proves on another socket that the participant is this client's.
        var secret: String
    }

    var function: MediaCall.Function
    var arguments: [JSONMember]

    /// - Parameters:
    ///   - uid: the uid; that of before when the client comes back.
    ///   - publicKey: of this client, in base64.
    static func join(
        _ configuration: MediaConfiguration, uid: UInt32, flags: MediaFlags, publicKey: String,
        avoid: [MediaNodeID]
    ) -> ControlCall {
        let muted = (flags.contains(.audioMuted) ? 1 : 0) + (flags.contains(.videoMuted) ? 2 : 0)
        let members = [
            JSONMember("channel", .string(configuration.channel)), JSONMember("uid", .number(String(uid))),
            JSONMember("key", .string(configuration.key)), JSONMember("info", .string(configuration.info)),
            JSONMember("call", .string(configuration.callID)), number("enabled", flags.contains(.videoEnabled) ? 1 : 0),
            number("muted", muted), JSONMember("avoid", .array(avoid.map { .string($0.rawValue) })),
        ]
        return ControlCall(function: .join, arguments: members + transport(publicKey))
    }

    static func restart(_ subject: Subject, publicKey: String) -> ControlCall {
        ControlCall(
            function: .restart,
            arguments: about(subject) + [JSONMember("secret", .string(subject.secret))] + transport(publicKey))
    }

    static func resume(_ subject: Subject, n: Int64) -> ControlCall {
        ControlCall(
            function: .resume,
            arguments: about(subject)
                + [JSONMember("secret", .string(subject.secret)), JSONMember("n", .number(String(n)))])
    }

    static func renew(_ subject: Subject, key: String) -> ControlCall {
        ControlCall(function: .renew, arguments: about(subject) + [JSONMember("key", .string(key))])
    }

    /// Tells all of what the client sends.
    static func mute(_ subject: Subject, _ flags: MediaFlags) -> ControlCall {
        ControlCall(
            function: .mute,
            arguments: about(subject) + [
                number("audio", flags.contains(.audioMuted) ? 1 : 0),
                number("video", flags.contains(.videoMuted) ? 1 : 0),
                number("enabled", flags.contains(.videoEnabled) ? 1 : 0),
            ])
    }

    static func leave(_ subject: Subject) -> ControlCall { ControlCall(function: .leave, arguments: about(subject)) }

    private static func about(_ subject: Subject) -> [JSONMember] {
        [JSONMember("channel", .string(subject.channel)), JSONMember("pid", .string(subject.participant))]
    }

    private static func transport(_ publicKey: String) -> [JSONMember] {
        [
            JSONMember("kind", .string("engine")), JSONMember("pub", .string(publicKey)),
            JSONMember("codecs", .array([.string("opus")])),
        ]
    }

    private static func number(_ name: String, _ value: Int) -> JSONMember { JSONMember(name, .number(String(value))) }
}
