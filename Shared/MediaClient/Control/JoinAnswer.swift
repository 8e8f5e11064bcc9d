internal import MediaEngineLogic
internal import SignalingProtocol
internal import SignalingWire

/// The answer to a join: who the client is, who else is there, and where its media go.
struct JoinAnswer: Equatable {
    var uid: UInt32
    var participant: String
    var secret: String
    var node: MediaNodeID
    var roster: RosterCopy
    var transport: TransportAnswer
}

extension JoinAnswer {
    /// - Throws: ``MediaError/badAnswer``.
    init(_ json: JSONValue) throws(MediaError) {
        guard let uid = json.uint32("uid"), let participant = json["pid"]?.string, let secret = json["secret"]?.string,
            let node = json["node"]?.string
        else { throw .badAnswer }
        self.init(
            uid: uid, participant: participant, secret: secret, node: MediaNodeID(node), roster: try RosterCopy(json),
            transport: try TransportAnswer(json))
    }
}

/// The users of a channel, oldest first, as the node knew them after the change with that number.
struct RosterCopy: Equatable {
    var n: Int64
    var members: [RosterMember]
}

extension RosterCopy {
    /// - Throws: ``MediaError/badAnswer``.
    init(_ json: JSONValue) throws(MediaError) {
        guard let n = json["n"]?.integer, case .array(let users)? = json["users"], users.count <= Roster.bound else {
            throw .badAnswer
        }
        let members: [RosterMember] = users.compactMap { user in
            guard case .array(let parts) = user, parts.count >= 2,
                let uid = parts[0].integer.flatMap(UInt32.init(exactly:)),
                let flags = parts[1].integer
            else { return nil }
            return RosterMember(uid: uid, flags: MediaFlags(rawValue: UInt8(truncatingIfNeeded: flags)))
        }
        self.init(n: n, members: members)
    }
}

/// Where media go, and how.
struct TransportAnswer: Equatable {
    /// The most slots that a client reads of an answer.
    static let slotBound = AudioMixer.capacity

    var host: String
    var port: Int
    var ufrag: String
    var password: String
    /// The node's X25519 key, in base64.
    var publicKey: String
    /// The SSRC to send with.
    var ssrc: UInt32
    /// The SSRCs of what is received.
    var slots: [UInt32]
    /// Of Opus, both ways.
    var payloadType: UInt8
}

extension TransportAnswer {
    /// - Throws: ``MediaError/badAnswer``.
    init(_ json: JSONValue) throws(MediaError) {
        guard let ufrag = json["ufrag"]?.string, let password = json["pwd"]?.string,
            let publicKey = json["pub"]?.string,
            json["suite"]?.string == "AEAD_AES_128_GCM", case .array(let candidates)? = json["candidates"],
            let (host, port) = candidates.compactMap(Self.address).first, let ssrc = json["ssrcs"]?.uint32("audio"),
            case .array(let slots)? = json["slots"]?["audio"], slots.count <= Self.slotBound,
            let type = json["pts"]?.uint32("opus"), type < 128
        else { throw .badAnswer }
        self.init(
            host: host, port: port, ufrag: ufrag, password: password, publicKey: publicKey, ssrc: ssrc,
            slots: slots.compactMap { $0.integer.flatMap(UInt32.init(exactly:)) }, payloadType: UInt8(type))
    }

    /// The address of a candidate of UDP; nil for others.
    private static func address(_ json: JSONValue) -> (host: String, port: Int)? {
        guard case .array(let parts) = json, parts.count == 3, parts[0].string == "udp", let host = parts[1].string,
            let port = parts[2].integer.flatMap(Int.init(exactly:)), (1...65_535).contains(port)
        else { return nil }
        return (host, port)
    }
}
