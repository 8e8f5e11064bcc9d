package import SignalingProtocol

extension BanUser: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason))
    }
}

extension GetBan: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension LiftBan: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension UserBan: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason),
            createdAt: try fields.field("created", \.createdAt))
    }
}

extension RevokeTokens: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), until: try fields.field("until", \.until))
    }
}

extension GetRevokedTokens: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension RevokedTokens: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(until: try fields.field("until", \.until))
    }
}
