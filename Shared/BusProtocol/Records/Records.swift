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

extension AttributeChange: FieldRecord {
    private enum Kind: String, CaseIterable, FieldValue {
        case update
        case delete = "del"
        case clear
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        switch try fields.field("change", \.kind) {
        case .update: self = .update(try fields.ownFields(of: \.attribute))
        case .delete: self = .delete(try fields.own("name", \.deleted))
        case .clear: self = .clear
        }
    }

    private var kind: Kind {
        switch self {
        case .update: .update
        case .delete: .delete
        case .clear: .clear
        }
    }

    private var attribute: Attribute? { if case .update(let attribute) = self { attribute } else { nil } }

    private var deleted: AttributeName? { if case .delete(let name) = self { name } else { nil } }
}
