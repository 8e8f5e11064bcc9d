package import SignalingProtocol

extension MediaChannelKey: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(app: try fields.field("app", \.app), name: try fields.field("media_channel", \.name))
    }
}

extension MediaTransportOffer: FieldRecord {
    private enum Kind: String, CaseIterable, FieldValue {
        case engine, web
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        switch try fields.field("kind", \.kind) {
        case .engine:
            self = .engine(
                publicKey: try fields.own("pub", \.publicKey), codecs: try fields.repeated("codec", \.codecs))
        case .web: self = .web(offer: try fields.own("offer", \.offer))
        }
    }

    private var kind: Kind {
        switch self {
        case .engine: .engine
        case .web: .web
        }
    }

    private var publicKey: String? { if case .engine(let key, _) = self { key } else { nil } }
    private var codecs: [String] { if case .engine(_, let codecs) = self { codecs } else { [] } }
    private var offer: String? { if case .web(let offer) = self { offer } else { nil } }
}

extension MediaJoined: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            uid: try fields.field("uid", \.uid),
            secret: try fields.field("secret", \.secret),
            epoch: try fields.field("epoch", \.epoch),
            n: try fields.field("n", \.n),
            users: try fields.list("users", \.users),
            transport: try fields.fields(of: \.transport))
    }
}

extension MediaUser: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            uid: try fields.field("uid", \.uid),
            flags: try fields.field("flags", \.flags),
            age: try fields.field("age", \.age))
    }
}

extension MediaTransportAnswer: FieldRecord {
    private enum Kind: String, CaseIterable, FieldValue {
        case engine, web
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        switch try fields.field("kind", \.kind) {
        case .engine: self = .engine(try fields.ownFields(of: \.engine))
        case .web: self = .web(answer: try fields.own("answer", \.answer))
        }
    }

    private var kind: Kind {
        switch self {
        case .engine: .engine
        case .web: .web
        }
    }

    private var engine: EngineTransport? { if case .engine(let engine) = self { engine } else { nil } }
    private var answer: String? { if case .web(let answer) = self { answer } else { nil } }
}

extension EngineTransport: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            candidates: try fields.list("candidates", \.candidates),
            ufrag: try fields.field("ufrag", \.ufrag),
            password: try fields.field("pwd", \.password),
            publicKey: try fields.field("pub", \.publicKey),
            suite: try fields.field("suite", \.suite),
            audioSource: try fields.field("audio", \.audioSource),
            audioSlots: try fields.repeated("slot", \.audioSlots),
            opus: try fields.field("opus", \.opus))
    }
}

extension MediaCandidate: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            transport: try fields.field("transport", \.transport),
            address: try fields.field("address", \.address),
            port: try fields.field("port", \.port))
    }
}

extension MediaMute: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            audio: try fields.optional("audio", \.audio),
            video: try fields.optional("video", \.video),
            enabled: try fields.optional("enabled", \.enabled))
    }
}

extension MediaMuted: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(n: try fields.optional("n", \.n))
    }
}

extension MediaResumed: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            keyUID: try fields.field("key_uid", \.keyUID),
            n: try fields.field("n", \.n),
            users: try fields.list("users", \.users))
    }
}

extension MediaRestarted: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            keyUID: try fields.field("key_uid", \.keyUID), transport: try fields.fields(of: \.transport))
    }
}

extension MediaLeft: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            duration: try fields.field("duration", \.duration), bytes: try fields.field("bytes", \.bytes))
    }
}

extension MediaNodeID: FieldValue {
    /// Reads an id that one of our processes made; it is not validated.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(try reader.string(name))
    }
}

extension ParticipantID: FieldValue {
    /// Reads an id that a gateway made or a client named; it is not validated.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self.init(try reader.string(name))
    }
}

extension MediaChannelName: FieldValue {
    /// Reads and validates a name.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        let text = try reader.string(name)
        do { try self.init(text) } catch { throw FieldReader.malformed(name, "a media channel's name") }
    }
}

extension MediaFlags: FieldValue {
    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, Int(rawValue)) }
    /// Reads the flags, with those that only a newer release knows.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        guard let flags = UInt8(exactly: try reader.int(name)) else { throw FieldReader.malformed(name, "flags") }
        self.init(rawValue: flags)
    }
}
