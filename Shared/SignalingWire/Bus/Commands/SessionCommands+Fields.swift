package import SignalingProtocol

extension OpenSession: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            gateway: try fields.field("gateway", \.gateway),
            line: try fields.field("line", \.line),
            device: try fields.field("device", \.device),
            push: try fields.field("push", \.push),
            tokenExpiry: try fields.field("expires", \.tokenExpiry))
    }
}

extension SessionOpened: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(uid: try fields.field("uid", \.uid), hold: try fields.fields(of: \.hold))
    }
}

extension SessionHold: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(since: try fields.field("since", \.since), claim: try fields.field("claim", \.claim))
    }
}

extension ResumeSession: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(gateway: try fields.field("gateway", \.gateway), line: try fields.field("line", \.line))
    }
}

extension SessionResumed: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            uid: try fields.field("uid", \.uid),
            channel: try fields.optional("channel", \.channel),
            push: try fields.field("push", \.push),
            tokenExpiry: try fields.field("expires", \.tokenExpiry),
            hold: try fields.fields(of: \.hold))
        moveNumber = try fields.field("turn", \.moveNumber)
    }
}

extension DetachSession: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            gateway: try fields.field("gateway", \.gateway),
            user: try fields.fields(of: \.user),
            session: try fields.field("session", \.session),
            claim: try fields.optional("claim", \.claim))
    }
}

extension CloseSession: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            session: try fields.field("session", \.session),
            reason: try fields.field("reason", \.reason))
    }
}
