package import SignalingProtocol

/// The answers to media calls, and the events in media channels.
extension ServerFrame {
    /// `media_hello_ret`: media calls with this line are taken on the socket.
    package static func mediaHelloSucceeded(line: String) -> [UInt8] {
        frame("media_hello_ret", ["", mediaResult([JSONMember("line", line)]).compactText])
    }

    /// `media_hello_ret` of a refused hello.
    package static func mediaHelloFailed(_ refusal: MediaRefusal) -> [UInt8] {
        frame("media_hello_ret", [refusal.rawValue, mediaFailure(refusal).compactText])
    }

    /// The answer to `media.join`.
    /// - Parameters:
    ///   - id: the call's id as JSON text.
    ///   - expiry: when the service that the key is for ends, in Unix seconds; 0 for never.
    package static func mediaJoined(
        id: String, _ participant: ParticipantID, at node: MediaNodeID, expiry: Int64, _ joined: MediaJoined
    ) -> [UInt8] {
        let members = [
            JSONMember("uid", number(Int64(joined.uid))), JSONMember("pid", participant.rawValue),
            JSONMember("secret", joined.secret), JSONMember("node", node.rawValue),
            JSONMember("epoch", number(joined.epoch)), JSONMember("n", number(joined.n)),
            JSONMember("expiry", number(expiry)), JSONMember("users", users(joined.users)),
        ]
        return callReturn(id: id, error: "", data: mediaResult(members + transport(joined.transport)))
    }

    /// The answer to `media.resume`.
    package static func mediaResumed(id: String, _ resumed: MediaResumed) -> [UInt8] {
        let members = [JSONMember("n", number(resumed.n)), JSONMember("users", users(resumed.users))]
        return callReturn(id: id, error: "", data: mediaResult(members))
    }

    /// The answer to `media.restart`.
    package static func mediaRestarted(id: String, _ restarted: MediaRestarted) -> [UInt8] {
        callReturn(id: id, error: "", data: mediaResult(transport(restarted.transport)))
    }

    /// The answer to `media.renew`.
    /// - Parameter expiry: when the service that the key is for ends, in Unix seconds; 0 for never.
    package static func mediaRenewed(id: String, expiry: Int64) -> [UInt8] {
        callReturn(id: id, error: "", data: mediaResult([JSONMember("expiry", number(expiry))]))
    }

    /// The answer to `media.mute`.
    package static func mediaMuted(id: String, _ muted: MediaMuted) -> [UInt8] {
        let members = muted.n.map { [JSONMember("n", number($0))] } ?? []
        return callReturn(id: id, error: "", data: mediaResult(members))
    }

    /// The answer to `media.leave`.
    package static func mediaLeft(id: String, _ left: MediaLeft) -> [UInt8] {
        let members = [JSONMember("duration", number(left.duration)), JSONMember("bytes", number(left.bytes))]
        return callReturn(id: id, error: "", data: mediaResult(members))
    }

    /// The answer to a refused media call.
    package static func mediaFailed(id: String, _ refusal: MediaRefusal) -> [UInt8] {
        callReturn(id: id, error: refusal.rawValue, data: mediaFailure(refusal))
    }

    /// An event, as one of the participants that it concerns gets it.
    package static func mediaEvent(
        _ event: MediaEvent, in channel: MediaChannelName, for participant: ParticipantID
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        let head = [
            JSONMember("t", event.name), JSONMember("channel", channel.rawValue),
            JSONMember("pid", participant.rawValue),
        ]
        let notice = JSONValue.array([.string("media"), .object(head + event.members)])
        JSONValue.array([.string("notify"), notice]).append(to: &bytes)
        return bytes
    }

    // MARK: - The parts

    private static func number(_ number: Int64) -> JSONValue { .number(String(number)) }

    private static func mediaResult(_ members: [JSONMember]) -> JSONValue {
        .object([JSONMember("result", "ok")] + members)
    }

    private static func mediaFailure(_ refusal: MediaRefusal) -> JSONValue {
        .object([
            JSONMember("result", "failed"), JSONMember("reason", refusal.rawValue),
            JSONMember("code", number(Int64(refusal.code))), JSONMember("message", refusal.message),
        ])
    }

    private static func users(_ users: [MediaUser]) -> JSONValue {
        .array(
            users.map { .array([number(Int64($0.uid)), number(Int64($0.flags.rawValue)), number($0.age)]) })
    }

    private static func transport(_ transport: MediaTransportAnswer) -> [JSONMember] {
        switch transport {
        case .web(let answer): [JSONMember("answer", answer), JSONMember("iceServers", .array([]))]
        case .engine(let engine): members(of: engine)
        }
    }

    private static func members(of engine: EngineTransport) -> [JSONMember] {
        let candidates = engine.candidates.map {
            JSONValue.array([.string($0.transport), .string($0.address), number(Int64($0.port))])
        }
        let slots = JSONValue.array(engine.audioSlots.map { number(Int64($0)) })
        return [
            JSONMember("candidates", .array(candidates)), JSONMember("ufrag", engine.ufrag),
            JSONMember("pwd", engine.password), JSONMember("pub", engine.publicKey),
            JSONMember("suite", engine.suite),
            JSONMember("ssrcs", .object([JSONMember("audio", number(Int64(engine.audioSource)))])),
            JSONMember("slots", .object([JSONMember("audio", slots)])),
            JSONMember("pts", .object([JSONMember("opus", number(Int64(engine.opus)))])),
        ]
    }
}

extension MediaEvent {
    fileprivate var name: String {
        switch self {
        case .joined: "joined"
        case .left: "left"
        case .state: "state"
        case .stats: "stats"
        case .key: "key"
        case .gone: "gone"
        }
    }

    fileprivate var members: [JSONMember] {
        switch self {
        case .joined(let uid, let flags, let n), .state(let uid, let flags, let n):
            [
                JSONMember("n", n), JSONMember("uid", uid),
                JSONMember("flags", flags.rawValue),
            ]
        case .left(let uid, let reason, let n):
            [
                JSONMember("n", n), JSONMember("uid", uid),
                JSONMember("reason", reason.rawValue),
            ]
        case .stats(let uplinks, let n):
            [
                JSONMember("n", n),
                JSONMember(
                    "users",
                    .array(
                        uplinks.map {
                            .array([.number(String($0.uid)), .number(String($0.delay)), .number(String($0.loss))])
                        })),
            ]
        case .key: []
        case .gone(let reason): [JSONMember("reason", reason.rawValue)]
        }
    }
}
