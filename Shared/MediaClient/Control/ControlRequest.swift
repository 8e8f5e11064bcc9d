internal import SignalingProtocol
internal import SignalingWire

/// The frames that a media client sends to its gateway. Source: `Docs/protocol.md`, "Media".
enum ControlRequest {
    static func hello(app: String) -> [UInt8] {
        frame(
            "media_hello",
            .object([
                JSONMember("vid", app), JSONMember("device", "swift"),
                JSONMember("sdk", "1.4.0"),
            ]))
    }

    static func ping(_ number: Int64) -> [UInt8] { frame("ping", .number(String(number))) }

    static func call(_ call: ControlCall, id: Int64, line: String) -> [UInt8] {
        let arguments = [JSONMember("line", line)] + call.arguments
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
            JSONMember("channel", configuration.channel), JSONMember("uid", uid),
            JSONMember("key", configuration.key), JSONMember("info", configuration.info),
            JSONMember("call", configuration.callID), JSONMember("enabled", flags.contains(.videoEnabled) ? 1 : 0),
            JSONMember("muted", muted), JSONMember("avoid", .array(avoid.map { .string($0.rawValue) })),
        ]
        return ControlCall(function: .join, arguments: members + transport(publicKey))
    }

    static func restart(_ subject: Subject, publicKey: String) -> ControlCall {
        ControlCall(
            function: .restart,
            arguments: about(subject) + [JSONMember("secret", subject.secret)] + transport(publicKey))
    }

    static func resume(_ subject: Subject, n: Int64) -> ControlCall {
        ControlCall(
            function: .resume,
            arguments: about(subject)
                + [JSONMember("secret", subject.secret), JSONMember("n", n)])
    }

    static func renew(_ subject: Subject, key: String) -> ControlCall {
        ControlCall(function: .renew, arguments: about(subject) + [JSONMember("key", key)])
    }

    /// Tells all of what the client sends.
    static func mute(_ subject: Subject, _ flags: MediaFlags) -> ControlCall {
        ControlCall(
            function: .mute,
            arguments: about(subject) + [
                JSONMember("audio", flags.contains(.audioMuted) ? 1 : 0),
                JSONMember("video", flags.contains(.videoMuted) ? 1 : 0),
                JSONMember("enabled", flags.contains(.videoEnabled) ? 1 : 0),
            ])
    }

    static func leave(_ subject: Subject) -> ControlCall { ControlCall(function: .leave, arguments: about(subject)) }

    private static func about(_ subject: Subject) -> [JSONMember] {
        [JSONMember("channel", subject.channel), JSONMember("pid", subject.participant)]
    }

    private static func transport(_ publicKey: String) -> [JSONMember] {
        [
            JSONMember("kind", "engine"), JSONMember("pub", publicKey),
            JSONMember("codecs", .array([.string("opus")])),
        ]
    }

}
