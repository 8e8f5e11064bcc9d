package import SignalingProtocol

/// Ends a user's current session by an administrator's order; its client is closed with code 100.
package struct DisconnectUser: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.disconnect"
    package typealias Reply = Done
    package var user: UserKey

    package var subject: Subject { .user(user) }

    package init(user: UserKey) { self.user = user }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

/// Asks whether a user is online. A detached session counts as online.
package struct QueryUserStatus: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.status"
    package typealias Reply = UserStatus
    package var user: UserKey

    package var subject: Subject { .user(user) }

    package init(user: UserKey) { self.user = user }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

/// Whether a user is online.
package struct UserStatus: Equatable, Sendable, FieldRecord {
    /// True from login until logout, or until `_conn_timeout` seconds after the connection was lost.
    package var online: Bool

    package init(online: Bool) { self.online = online }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(online: try fields.field("online", \.online))
    }
}

/// Sets an attribute of a user; answered after the change is committed in PostgreSQL. The session must be the user's
/// current one, held by the gateway that sends the command.
package struct SetUserAttribute: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.attribute.set"
    package typealias Reply = Done
    package var user: UserKey
    /// The session that makes the change.
    package var session: SessionID
    package var attribute: Attribute

    package var subject: Subject { .user(user) }

    package init(user: UserKey, session: SessionID, attribute: Attribute) {
        self.user = user
        self.session = session
        self.attribute = attribute
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            session: try fields.field("session", \.session),
            attribute: try fields.fields(of: \.attribute))
    }
}

/// Asks for an attribute of a user; the reply is empty text when it is not set.
package struct GetUserAttribute: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.attribute.get"
    package typealias Reply = AttributeValue
    package var user: UserKey
    package var name: AttributeName

    package var subject: Subject { .user(user) }

    package init(user: UserKey, name: AttributeName) {
        self.user = user
        self.name = name
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), name: try fields.field("name", \.name))
    }
}

/// The value of an attribute.
package struct AttributeValue: Equatable, Sendable, FieldRecord {
    /// Empty when the attribute is not set.
    package var value: String

    package init(value: String) { self.value = value }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(value: try fields.field("value", \.value))
    }
}

/// Asks for all attributes of a user.
package struct ListUserAttributes: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.attribute.list"
    package typealias Reply = AttributeList
    package var user: UserKey

    package var subject: Subject { .user(user) }

    package init(user: UserKey) { self.user = user }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

/// All attributes of a user or channel.
package struct AttributeList: Equatable, Sendable, FieldRecord {
    /// The attributes, sorted by name.
    package var attributes: [Attribute]

    package init(attributes: [Attribute]) { self.attributes = attributes }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(attributes: try fields.list("attributes", \.attributes))
    }
}
