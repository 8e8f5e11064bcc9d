internal import SignalingProtocol
internal import SignalingWire

/// One text frame of a gateway, as a media client reads it. Source: `Docs/protocol.md`, "Media".
enum ControlMessage: Equatable {
    /// `media_hello_ret`: the socket's line.
    case hello(Result<String, MediaError>)
    /// `call2-ret`; on success the whole object.
    case answer(id: Int64, Result<JSONValue, MediaError>)
    /// `notify media`.
    case event(ChannelNotice)
    /// `pong`.
    case pong
    /// `close`, after which the gateway closes the connection.
    case close
    /// A frame that this version does not know.
    case unknown

    /// The frame's content is not as its name requires.
    struct Malformed: Error {}

    /// Parses a frame.
    /// - Throws: `Malformed`, and the JSON parser's errors.
    init(decoding bytes: some Collection<UInt8>) throws {
        guard case .array(let parts) = try JSONValue.parse(bytes), parts.count == 2, let name = parts[0].string else {
            throw Malformed()
        }
        switch name {
        case "media_hello_ret":
            guard case .array(let outcome) = parts[1], outcome.count == 2 else { throw Malformed() }
            self = .hello(
                try Self.outcome(outcome[0], outcome[1]).flatMap { answer in
                    answer["line"]?.string.map(Result.success) ?? .failure(.badAnswer)
                })
        case "call2-ret":
            guard case .array(let answer) = parts[1], answer.count == 3, let id = answer[0].integer else {
                throw Malformed()
            }
            self = .answer(id: id, try Self.outcome(answer[1], answer[2]))
        case "notify":
            guard case .array(let notice) = parts[1], notice.count == 2, notice[0].string == "media" else {
                self = .unknown
                return
            }
            self = ChannelNotice(notice[1]).map(ControlMessage.event) ?? .unknown
        case "pong": self = .pong
        case "close": self = .close
        default: self = .unknown
        }
    }

    private static func outcome(_ word: JSONValue, _ data: JSONValue) throws -> Result<JSONValue, MediaError> {
        guard let word = word.string, let text = data.string else { throw Malformed() }
        let json = try JSONValue.parse(text.utf8)
        if word.isEmpty, json["result"]?.string == "ok" { return .success(json) }
        let code = json["code"]?.integer.flatMap(Int.init(exactly:)) ?? 1
        return .failure(MediaError(code: code, reason: word, message: json["message"]?.string ?? word))
    }
}

/// An event of a media channel, as a gateway tells it.
enum ChannelNotice: Equatable {
    /// `joined` and `state`.
    case member(RosterMember, n: Int64, participant: String)
    case left(uid: UInt32, MediaLeaveReason, n: Int64, participant: String)
    /// How the users' audio reaches the node, and the number of the roster's last change; older nodes leave it out.
    case uplinks([Uplink], n: Int64?, participant: String)
    case keyEnded(participant: String)
    case gone(reason: String, participant: String)

    /// How a user's audio reaches the node.
    struct Uplink: Equatable {
        var uid: UInt32
        /// In milliseconds.
        var delay: Int
        /// In percent.
        var loss: Int
    }

    /// Nil for an event that this version does not know.
    init?(_ json: JSONValue) {
        guard let kind = json["t"]?.string, let participant = json["pid"]?.string else { return nil }
        switch kind {
        case "joined", "state":
            guard let uid = json.uint32("uid"), let flags = json.flags("flags"), let n = json["n"]?.integer else {
                return nil
            }
            self = .member(RosterMember(uid: uid, flags: flags), n: n, participant: participant)
        case "left":
            guard let uid = json.uint32("uid"), let n = json["n"]?.integer else { return nil }
            let reason: MediaLeaveReason = json["reason"]?.string == "dropped" ? .dropped : .quit
            self = .left(uid: uid, reason, n: n, participant: participant)
        case "stats":
            guard case .array(let users)? = json["users"] else { return nil }
            self = .uplinks(users.compactMap(Uplink.init), n: json["n"]?.integer, participant: participant)
        case "key": self = .keyEnded(participant: participant)
        case "gone": self = .gone(reason: json["reason"]?.string ?? "", participant: participant)
        default: return nil
        }
    }

    /// Whom the event is for.
    var participant: String {
        switch self {
        case .member(_, _, let participant), .left(_, _, _, let participant), .uplinks(_, _, let participant),
            .keyEnded(let participant), .gone(_, let participant):
            participant
        }
    }
}

extension ChannelNotice.Uplink {
    fileprivate init?(_ json: JSONValue) {
        guard case .array(let parts) = json, parts.count == 3,
            let uid = parts[0].integer.flatMap(UInt32.init(exactly:)),
            let delay = parts[1].integer.flatMap(Int.init(exactly:)),
            let loss = parts[2].integer.flatMap(Int.init(exactly:))
        else { return nil }
        self.init(uid: uid, delay: min(max(delay, 0), 60_000), loss: min(max(loss, 0), 100))
    }
}

extension JSONValue {
    /// A member that is a number of 32 bits; nil for others.
    func uint32(_ name: String) -> UInt32? { self[name]?.integer.flatMap(UInt32.init(exactly:)) }

    /// A member that holds a user's flags; those of later versions are left out.
    func flags(_ name: String) -> MediaFlags? {
        self[name]?.integer.map { MediaFlags(rawValue: UInt8(truncatingIfNeeded: $0)) }
    }
}
