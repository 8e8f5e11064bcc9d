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

extension SessionsReasserted.Lost: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(session: try fields.field("session", \.session), code: nil)
        let written = try fields.field("code", \.writtenCode)
        code = written == .success ? nil : written
    }

    /// Success is written for nil, because no session is ever closed with that code.
    private var writtenCode: SignalingCode { code ?? .success }
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

extension MembersReasserted: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(unknown: try fields.repeated("unknown", \.unknown))
    }
}

extension ForgetMember: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(actor: try fields.fields(of: \.actor), channel: try fields.field("channel", \.channel))
    }
}
