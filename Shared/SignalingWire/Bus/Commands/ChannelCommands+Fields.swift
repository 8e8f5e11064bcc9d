package import SignalingProtocol

extension JoinChannel: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            moveNumber: try fields.field("turn", \.moveNumber))
    }
}

extension ChannelJoined: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            sequence: try fields.field("sequence", \.sequence),
            id: try fields.field("event", \.id),
            members: try fields.field("latest", \.members),
            attributes: try fields.list("attributes", \.attributes))
    }
}

extension ChannelLeft: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(sequence: try fields.optional("sequence", \.sequence))
    }
}

extension LeaveChannel: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            reason: try fields.field("reason", \.reason),
            moveNumber: try fields.field("turn", \.moveNumber))
    }
}

extension ChangeChannelAttributes: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            change: try fields.fields(of: \.change),
            limitPerSecond: try fields.field("limit", \.limitPerSecond))
    }
}

extension CountMembers: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel))
    }
}

extension MemberCount: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(count: try fields.field("count", \.count))
    }
}

extension QueryMember: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel), account: try fields.field("account", \.account))
    }
}

extension MemberStatus: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(isMember: try fields.field("member", \.isMember))
    }
}

extension ListMembers: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel), limit: try fields.field("limit", \.limit))
    }
}

extension MemberList: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(total: try fields.field("total", \.total), members: try fields.list("members", \.members))
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
