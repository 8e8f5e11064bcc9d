package import SignalingProtocol

extension CallAct: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            verb: try fields.field("verb", \.verb),
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            peer: try fields.field("peer", \.peer),
            extra: try fields.field("extra", \.extra))
        call = try fields.optional("call", \.call)
    }
}

extension FindCall: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), call: try fields.field("call", \.call))
    }
}

extension FoundCall: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.field("channel", \.channel), peer: try fields.field("peer", \.peer))
    }
}

extension EndSessionCalls: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), session: try fields.field("session", \.session))
    }
}
