package import SignalingProtocol

extension ChangeUserAttribute: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            name: try fields.field("name", \.name),
            value: try fields.optional("value", \.value),
            expectation: try fields.fields(of: \.expectation))
    }
}

extension ChangeChannelAttribute: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            channel: try fields.fields(of: \.channel),
            account: try fields.field("by", \.account),
            name: try fields.field("name", \.name),
            value: try fields.optional("value", \.value),
            expectation: try fields.fields(of: \.expectation))
        limitPerSecond = try fields.field("limit", \.limitPerSecond)
    }
}

extension ListChannelAttributes: WireCommand, FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel))
    }
}

extension AttributeExpectation: FieldRecord {
    private enum Kind: String, CaseIterable, FieldValue {
        case any
        case absent
        case value
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        switch try fields.field("if", \.kind) {
        case .any: self = .any
        case .absent: self = .absent
        case .value: self = .value(try fields.own("expected", \.expected))
        }
    }

    private var kind: Kind {
        switch self {
        case .any: .any
        case .absent: .absent
        case .value: .value
        }
    }

    private var expected: String? { if case .value(let text) = self { text } else { nil } }
}
