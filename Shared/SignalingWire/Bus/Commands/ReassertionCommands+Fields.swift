package import SignalingProtocol

extension ReassertSessions: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            gateway: try fields.field("gateway", \.gateway),
            sessions: try fields.list("sessions", \.sessions))
    }
}

extension HeldSession: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            line: try fields.field("line", \.line),
            uid: try fields.field("uid", \.uid),
            device: try fields.field("device", \.device),
            push: try fields.field("push", \.push),
            tokenExpiry: try fields.field("expires", \.tokenExpiry))
        hold = try fields.fields(of: \.hold)
        place = try fields.fields(of: \.place)
    }
}

extension HeldPlace: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            moveNumber: try fields.field("turn", \.moveNumber),
            channel: try fields.optional("channel", \.channel),
            isSettled: try fields.field("settled", \.isSettled))
    }
}

extension SessionsReasserted: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(held: try fields.list("held", \.held), lost: try fields.list("lost", \.lost))
    }
}

extension SessionsReasserted.Held: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            session: try fields.field("session", \.session),
            mailbox: try fields.field("mailbox", \.mailbox))
    }
}

extension SessionsReasserted.Lost: FieldCodable {
    package func write(to writer: inout FieldWriter) {
        writer.put("session", session.rawValue)
        // Success is written for nil, because no session is ever closed with that code.
        writer.put("code", code ?? .success)
    }

    package init(from reader: FieldReader) throws(SignalingError) {
        let code = try reader.code("code")
        self.init(session: SessionID(try reader.string("session")), code: code == .success ? nil : code)
    }
}

extension ReassertMembers: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel), members: try fields.list("members", \.members))
    }
}

extension HeldMember: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(member: try fields.fields(of: \.member), session: try fields.field("session", \.session))
    }
}

extension MembersReasserted: FieldCodable {
    package func write(to writer: inout FieldWriter) {
        for session in unknown { writer.put("unknown", session.rawValue) }
    }

    package init(from reader: FieldReader) throws(SignalingError) {
        var unknown: [SessionID] = []
        for (name, value) in reader.pairs where name == "unknown" {
            unknown.append(SessionID(String(decoding: value, as: UTF8.self)))
        }
        self.init(unknown: unknown)
    }
}

extension ForgetMember: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(actor: try fields.fields(of: \.actor), channel: try fields.field("channel", \.channel))
    }
}
