package import SignalingProtocol

extension UserKey: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(app: try fields.field("app", \.app), account: try fields.field("account", \.account))
    }
}

extension ChannelKey: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(app: try fields.field("app", \.app), name: try fields.field("channel", \.name))
    }
}

extension Actor: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            uid: try fields.field("uid", \.uid),
            session: try fields.field("session", \.session))
    }
}

extension Member: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(account: try fields.field("account", \.account), uid: try fields.field("uid", \.uid))
    }
}

extension Attribute: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(name: try fields.field("name", \.name), value: try fields.field("value", \.value))
    }
}
