/// A media section of a description: what is said between one `m=` line and the next.
package struct SDPSection: Equatable, Sendable {
    package enum Kind: Sendable {
        case audio, video, other
    }

    /// What the one who wrote the description does with the media.
    package enum Direction: String, Sendable {
        case sendRecv = "sendrecv"
        case sendOnly = "sendonly"
        case recvOnly = "recvonly"
        case inactive
    }

    /// A codec of one payload type.
    package struct Codec: Equatable, Sendable {
        package var payloadType: UInt8
        /// In lower case, such as `opus`, `vp8`, `rtx`.
        package var name: String
        package var clockRate: UInt32
        package var channels: UInt8
        /// Format parameters; names in lower case.
        package var parameters: [String: String] = [:]
        /// Kinds of feedback, such as `nack pli`.
        package var feedback: Set<String> = []
    }

    package var kind: Kind
    /// The word of the `m=` line, such as `audio`.
    package var media: String
    package var isRejected: Bool
    package var transport: String
    /// The formats of the `m=` line, as they were.
    package var formats: [String]
    package var mid: String?
    package var direction = Direction.sendRecv
    package var isMultiplexed = false
    package var setup: String?
    package var ice = ICECredentials()
    package var fingerprints: [String] = []
    /// By the order of the formats, without payload types 64...95: packets with these look like RTCP on the same port
    /// (RFC 5761, section 4).
    package var codecs: [Codec] = []
    /// Header extensions by their URI.
    package var extensions: [String: UInt8] = [:]
    /// Restriction identifiers that are sent, in their order.
    package var rids: [String] = []
    /// Synchronisation sources that are announced.
    package var sources: [UInt32] = []

    /// Reads the value of an `m=` line: media, port, transport, formats.
    init?(_ value: Substring) {
        let words = value.words
        guard words.count >= 4, let port = UInt16(words[1].cut(at: "/")?.head ?? words[1]) else { return nil }
        media = String(words[0])
        kind =
            switch words[0] {
            case "audio": .audio
            case "video": .video
            default: .other
            }
        isRejected = port == 0
        transport = String(words[2])
        formats = words[3...].map(String.init)
        guard formats.count <= 128 else { return nil }
        if kind != .other {
            codecs = words[3...].compactMap(\.payloadType).filter { !(64...95).contains($0) }.map {
                Codec(payloadType: $0, name: "", clockRate: 0, channels: 1)
            }
        }
    }

    /// Takes an attribute. Unknown ones are ignored; false for one that cannot be read.
    mutating func take(_ attribute: Substring) -> Bool {
        guard let (name, value) = attribute.cut(at: ":") else {
            if let direction = Direction(rawValue: String(attribute)) { self.direction = direction }
            if attribute == "rtcp-mux" { isMultiplexed = true }
            return true
        }
        switch name {
        case "mid":
            guard isToken(value) else { return false }
            mid = String(value)
        case "setup": setup = String(value)
        case "fingerprint": fingerprints.append(String(value))
        case "ice-ufrag": ice.userFragment = String(value)
        case "ice-pwd": ice.password = String(value)
        case "rtpmap": return takeMap(value)
        case "fmtp": return takeParameters(value)
        case "rtcp-fb": return takeFeedback(value)
        case "extmap": return takeExtension(value)
        case "rid":
            let words = value.words
            guard words.count >= 2, isToken(words[0]) else { return false }
            if words[1] == "send", rids.count < 8 { rids.append(String(words[0])) }
        case "ssrc":
            guard let source = value.words.first.flatMap({ UInt32($0) }) else { return false }
            if !sources.contains(source), sources.count < 16 { sources.append(source) }
        default: break
        }
        return true
    }

    /// Up to 16 characters that can be in a header extension and in an answer.
    private func isToken(_ text: Substring) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private func index(of payloadType: UInt8) -> Int? { codecs.firstIndex { $0.payloadType == payloadType } }

    private mutating func takeMap(_ value: Substring) -> Bool {
        guard let (number, text) = value.cut(at: " "), let payloadType = number.payloadType else { return false }
        let parts = text.parts(between: "/")
        guard (2...3).contains(parts.count), let clockRate = UInt32(parts[1]), clockRate > 0 else { return false }
        guard let place = index(of: payloadType) else { return true }
        codecs[place].name = parts[0].lowercased()
        codecs[place].clockRate = clockRate
        if parts.count == 3 {
            guard let channels = UInt8(parts[2]) else { return false }
            codecs[place].channels = channels
        }
        return true
    }

    private mutating func takeParameters(_ value: Substring) -> Bool {
        guard let (number, text) = value.cut(at: " "), let payloadType = number.payloadType else { return false }
        guard let place = index(of: payloadType) else { return true }
        for item in text.parts(between: ";") {
            let (name, value) = item.cut(at: "=") ?? (item, "")
            guard codecs[place].parameters.count < 32 else { return false }
            codecs[place].parameters[name.words.joined().lowercased()] = String(value)
        }
        return true
    }

    private mutating func takeFeedback(_ value: Substring) -> Bool {
        guard let (number, text) = value.cut(at: " ") else { return false }
        let places =
            number == "*"
            ? Array(codecs.indices) : number.payloadType.flatMap { index(of: $0) }.map { [$0] } ?? []
        for place in places where codecs[place].feedback.count < 32 { codecs[place].feedback.insert(String(text)) }
        return number == "*" || number.payloadType != nil
    }

    /// `id[/direction] URI`; ids above 14 need the two-byte form.
    private mutating func takeExtension(_ value: Substring) -> Bool {
        let words = value.words
        guard words.count >= 2, let id = UInt16((words[0].cut(at: "/")?.head ?? words[0])), (1...4096).contains(id)
        else { return false }
        // Ids from 4096 on are placeholders of RFC 8285, which nobody sends.
        if id <= 255, extensions.count < 64 { extensions[String(words[1])] = UInt8(id) }
        return true
    }
}
