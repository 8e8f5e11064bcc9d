package import SignalingProtocol

extension ReassertDetachedSessions: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(gateway: try fields.field("gateway", \.gateway), sessions: try fields.list("sessions", \.sessions))
    }
}

extension DetachedSession: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.fields(of: \.held), lostAt: try fields.field("lost", \.lostAt))
    }
}

extension DetachedSessionsReasserted: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            detached: try fields.repeated("detached", \.detached), gone: try fields.repeated("gone", \.gone))
    }
}
