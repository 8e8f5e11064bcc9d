internal import SignalingProtocol

/// Reads the arguments of a media call. Unlike those of other calls, whose clients are old,
/// they have to be of the right type.
struct MediaArguments {
    private static let callDigits = 32
    private static let keyBytes = 32
    private static let codecs = 16
    private static let nameBytes = 64

    private let object: JSONValue

    /// - Parameter object: the value of the arguments; what is no object has no members.
    init(_ object: JSONValue) { self.object = object }

    func isOn(line: String) -> Bool {
        guard let given = object["line"]?.string, !line.isEmpty else { return false }
        return given.utf8.elementsEqual(line.utf8)
    }

    func channel() throws(MediaRefusal) -> MediaChannelName {
        guard let text = object["channel"]?.string else { throw .invalidChannel }
        return try MediaChannelName(text)
    }

    func participant() throws(MediaRefusal) -> ParticipantID {
        guard let text = object["pid"]?.string, Self.isName(text) else { throw .unknownParticipant }
        return ParticipantID(text)
    }

    func secret() throws(MediaRefusal) -> String {
        guard let text = object["secret"]?.string, Self.isName(text) else { throw .unknownParticipant }
        return text
    }

    /// A key that must be there.
    func key() throws(MediaRefusal) -> String {
        guard let text = object["key"]?.string, !text.isEmpty else { throw .invalidArguments }
        return text
    }

    func mute() throws(MediaRefusal) -> MediaMute {
        let change = MediaMute(
            audio: try flag("audio"), video: try flag("video"), enabled: try flag("enabled"))
        guard change != MediaMute() else { throw .invalidArguments }
        return change
    }

    /// 0 or 1; nil when it is missing.
    private func flag(_ name: String) throws(MediaRefusal) -> Bool? {
        guard object[name] != nil else { return nil }
        return try number(name, upTo: 1) == 1
    }

    func join() throws(MediaRefusal) -> MediaJoinRequest {
        let channel = try channel()
        let uid = try uid()
        guard let call = object["call"]?.string, call.utf8.count == Self.callDigits,
            call.utf8.allSatisfy({ Hex.value(of: $0) != nil })
        else { throw .invalidArguments }
        return MediaJoinRequest(
            channel: channel, uid: uid, key: try optional("key"), call: call, flags: try flags(), info: try info(),
            transport: try transport(), avoid: try avoid())
    }

    private func uid() throws(MediaRefusal) -> UInt32 {
        guard case .number(let text)? = object["uid"], let uid = UInt32(text) else { throw .invalidUID }
        return uid
    }

    private func flags() throws(MediaRefusal) -> MediaFlags {
        var flags: MediaFlags = []
        if try flag("enabled") == true { flags.insert(.videoEnabled) }
        let muted = try number("muted", upTo: 3)
        if muted & 1 != 0 { flags.insert(.audioMuted) }
        if muted & 2 != 0 { flags.insert(.videoMuted) }
        return flags
    }

    /// A number from 0; 0 when it is missing.
    private func number(_ name: String, upTo most: Int) throws(MediaRefusal) -> Int {
        guard let value = object[name] else { return 0 }
        guard case .number(let text) = value, let number = Int(text), (0...most).contains(number) else {
            throw .invalidArguments
        }
        return number
    }

    private func info() throws(MediaRefusal) -> String {
        let info = try optional("info") ?? ""
        guard info.utf8.count <= MediaJoinRequest.infoBytes else { throw .invalidArguments }
        return info
    }

    func transport() throws(MediaRefusal) -> MediaTransportOffer {
        switch object["kind"]?.string {
        case "engine":
            guard let key = object["pub"]?.string, Self.isKey(key),
                case .array(let values)? = object["codecs"], values.count <= Self.codecs
            else { throw .invalidArguments }
            let codecs = values.compactMap(\.string).filter(Self.isName)
            guard codecs.count == values.count else { throw .invalidArguments }
            return .engine(publicKey: key, codecs: codecs)
        case "web":
            guard let offer = object["offer"]?.string else { throw .badOffer }
            return .web(offer: offer)
        default: throw .invalidArguments
        }
    }

    private func avoid() throws(MediaRefusal) -> [MediaNodeID] {
        guard let value = object["avoid"] else { return [] }
        guard case .array(let values) = value, values.count <= MediaJoinRequest.avoidCount else {
            throw .invalidArguments
        }
        let nodes = values.compactMap(\.string).filter(Self.isName)
        guard nodes.count == values.count else { throw .invalidArguments }
        return nodes.map { MediaNodeID($0) }
    }

    /// A text; nil when it is missing or null.
    private func optional(_ name: String) throws(MediaRefusal) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text): return text
        case .bool, .number, .array, .object: throw .invalidArguments
        }
    }

    /// Whether it is the one text in base64 of so many bytes as a key has.
    private static func isKey(_ text: String) -> Bool {
        guard let bytes = Base64.bytes(Substring(text)), bytes.count == keyBytes else { return false }
        return Base64.text(bytes).utf8.elementsEqual(text.utf8)
    }

    /// Whether it can be an id, or the name of a codec: 1 to 64 visible ASCII characters.
    private static func isName(_ text: String) -> Bool {
        (1...nameBytes).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
