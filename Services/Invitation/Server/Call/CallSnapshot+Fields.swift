internal import InvitationLogic
internal import SignalingProtocol
internal import SignalingWire

/// A call as the fields of its Redis hash.
extension CallSnapshot {
    func write(to writer: inout FieldWriter) {
        switch phase {
        case .waiting(let deadline, let calleeWasOnline):
            writer.put("phase", "waiting")
            writer.put("deadline", deadline)
            writer.put("online", calleeWasOnline)
        case .ringing(let deadline):
            writer.put("phase", "ringing")
            writer.put("deadline", deadline)
        case .accepted:
            writer.put("phase", "accepted")
        case .ended(let at, let end, let owesCalleeEnd):
            writer.put("phase", "ended")
            writer.put("ended", at)
            writer.put("end", end.rawValue)
            writer.put("owes", owesCalleeEnd)
        }
        call.write(to: &writer)
    }

    init(from reader: FieldReader) throws(SignalingError) {
        let call = try Call(from: reader)
        let phase: Phase
        switch try reader.string("phase") {
        case "waiting":
            phase = .waiting(deadline: try reader.int64("deadline"), calleeWasOnline: try reader.bool("online"))
        case "ringing":
            phase = .ringing(deadline: try reader.int64("deadline"))
        case "accepted":
            phase = .accepted
        case "ended":
            guard let end = CallEnd(rawValue: try reader.string("end")) else { throw Call.unreadable("end") }
            phase = .ended(at: try reader.int64("ended"), end: end, owesCalleeEnd: try reader.bool("owes"))
        default:
            throw Call.unreadable("phase")
        }
        self.init(call: call, phase: phase)
    }
}

extension Call {
    func write(to writer: inout FieldWriter) {
        writer.put("id", id.rawValue)
        writer.put("app", channel.app.rawValue)
        writer.put("channel", channel.name.rawValue)
        writer.put("caller", caller.rawValue)
        writer.put("callerUID", callerUID)
        if let callerSession { writer.put("callerSession", callerSession.rawValue) }
        writer.put("callee", callee.rawValue)
        writer.put("calleeUID", calleeUID)
        if let calleeSession { writer.put("calleeSession", calleeSession.rawValue) }
        if let mail { writer.put("mail", mail) }
        phone?.write(to: &writer)
        writer.put("started", startedAt)
        if let acknowledgedAt { writer.put("acknowledged", acknowledgedAt) }
        if let acceptedAt { writer.put("accepted", acceptedAt) }
    }

    init(from reader: FieldReader) throws(SignalingError) {
        let app = try AppID(try reader.string("app"))
        self.init(
            id: CallID(try reader.string("id")),
            channel: ChannelKey(app: app, name: try ChannelName(try reader.string("channel"))),
            caller: try Account(try reader.string("caller")), callerUID: try reader.uint32("callerUID"),
            callerSession: reader.optionalString("callerSession").map { SessionID($0) },
            callee: try Account(try reader.string("callee")), calleeUID: try reader.uint32("calleeUID"),
            phone: try PhoneLeg(ifIn: reader), startedAt: try reader.int64("started"))
        calleeSession = reader.optionalString("calleeSession").map { SessionID($0) }
        mail = reader.optionalString("mail").flatMap { Int64($0) }
        acknowledgedAt = reader.optionalString("acknowledged").flatMap { Int64($0) }
        acceptedAt = reader.optionalString("accepted").flatMap { Int64($0) }
    }

    static func unreadable(_ field: String) -> SignalingError {
        SignalingError(.failed, .unreadableCall, "the call's record has an unknown \(field)")
    }
}

extension PhoneLeg {
    fileprivate func write(to writer: inout FieldWriter) {
        writer.put("phoneRole", role.rawValue)
        if let bridge { writer.put("bridge", bridge.rawValue) }
        if let ring { writer.put("phoneRing", ring) }
        if let longest { writer.put("phoneLongest", longest) }
        record.write(to: &writer)
    }

    /// Nil when the call is between users.
    fileprivate init?(ifIn reader: FieldReader) throws(SignalingError) {
        guard let text = reader.optionalString("phoneRole") else { return nil }
        guard let role = CallRole(rawValue: text) else { throw Call.unreadable("phoneRole") }
        self.init(
            role: role, bridge: reader.optionalString("bridge").map { BridgeID($0) },
            ring: reader.optionalString("phoneRing").flatMap { Int64($0) },
            longest: reader.optionalString("phoneLongest").flatMap { Int64($0) }, record: try PhoneRecord(from: reader))
    }
}
