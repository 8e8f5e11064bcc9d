package import SignalingProtocol

extension DisconnectUser: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension QueryUserStatus: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension UserStatus: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(online: try fields.field("online", \.online))
    }
}

extension SetUserAttribute: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            session: try fields.field("session", \.session),
            attribute: try fields.fields(of: \.attribute))
    }
}

extension GetUserAttribute: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), name: try fields.field("name", \.name))
    }
}

extension AttributeValue: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(value: try fields.field("value", \.value))
    }
}

extension ListUserAttributes: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension AttributeList: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(attributes: try fields.list("attributes", \.attributes))
    }
}
