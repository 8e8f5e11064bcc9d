package import SignalingProtocol

extension DisconnectUser: WireCommand, FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension QueryUserStatus: WireCommand, FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension UserStatus: FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(online: try fields.field("online", \.online))
    }
}

extension SetUserAttribute: WireCommand, FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            session: try fields.field("session", \.session),
            attribute: try fields.fields(of: \.attribute))
    }
}

extension GetUserAttribute: WireCommand, FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), name: try fields.field("name", \.name))
    }
}

extension AttributeValue: FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(value: try fields.field("value", \.value))
    }
}

extension ListUserAttributes: WireCommand, FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

extension AttributeList: FieldRecord {
    /// Goes through the fields.
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(attributes: try fields.list("attributes", \.attributes))
    }
}
