package import SignalingProtocol

/// What an attribute must be for a change to be made: compare-and-set.
package enum AttributeExpectation: Equatable, Sendable {
    /// Anything.
    case any
    /// Not set.
    case absent
    /// Set to this value.
    case value(String)
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

/// Sets or deletes an attribute of a user on behalf of the app's server; answered after the change is committed in
/// PostgreSQL. Fails with `value_differs` when the attribute is not as expected.
package struct ChangeUserAttribute: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.attribute.change"
    package static let level: Int64 = 2
    package typealias Reply = Done
    package var user: UserKey
    package var name: AttributeName
    /// The new value; nil deletes the attribute.
    package var value: String?
    package var expectation: AttributeExpectation

    package var subject: Subject { .user(user) }

    package init(user: UserKey, name: AttributeName, value: String?, expectation: AttributeExpectation) {
        self.user = user
        self.name = name
        self.value = value
        self.expectation = expectation
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            name: try fields.field("name", \.name),
            value: try fields.optional("value", \.value),
            expectation: try fields.fields(of: \.expectation))
    }
}

/// Sets or deletes an attribute of a channel on behalf of the app's server; as ``ChangeUserAttribute``.
package struct ChangeChannelAttribute: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.attribute.set"
    package static let level: Int64 = 2
    package typealias Reply = Done
    package var channel: ChannelKey
    /// The account that the members see as the one that made the change.
    package var account: Account
    package var name: AttributeName
    /// The new value; nil deletes the attribute.
    package var value: String?
    package var expectation: AttributeExpectation
    /// The largest number of attribute changes per second that the app allows in the channel.
    package var limitPerSecond: Int

    package var subject: Subject { .channel(channel) }

    package init(
        channel: ChannelKey, account: Account, name: AttributeName, value: String?, expectation: AttributeExpectation
    ) {
        self.channel = channel
        self.account = account
        self.name = name
        self.value = value
        self.expectation = expectation
        limitPerSecond = Limits.channelAttributeChangesPerSecond
    }

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

/// Asks for all attributes of a channel.
package struct ListChannelAttributes: ServiceCommand {
    package static let service = ServiceName.channelState
    package static let operation = "channel.attribute.list"
    package static let level: Int64 = 2
    package typealias Reply = AttributeList
    package var channel: ChannelKey

    package var subject: Subject { .channel(channel) }

    package init(channel: ChannelKey) { self.channel = channel }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.fields(of: \.channel))
    }
}
