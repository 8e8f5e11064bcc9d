/// Ends a user's session, whichever it is, by an administrator's order: its client is closed with 100.
package struct DisconnectUser: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.disconnect"
    package typealias Reply = Done
    package var user: UserKey

    package init(user: UserKey) { self.user = user }
}

/// Asks whether a user is online (a detached session counts as online).
package struct QueryUserStatus: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.status"
    package typealias Reply = UserStatus
    package var user: UserKey

    package init(user: UserKey) { self.user = user }
}

/// Whether a user is online.
package struct UserStatus: Equatable, Sendable {
    /// True from login to logout or `_conn_timeout` seconds after the connection is lost.
    package var online: Bool

    package init(online: Bool) { self.online = online }
}

/// Sets one of a user's attributes; answered after the change is committed in PostgreSQL. The session must be the user's
/// present one, at the asking gateway.
package struct SetUserAttribute: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.attribute.set"
    package typealias Reply = Done
    package var user: UserKey
    /// By which session.
    package var session: SessionID
    package var attribute: Attribute

    package init(user: UserKey, session: SessionID, attribute: Attribute) {
        self.user = user
        self.session = session
        self.attribute = attribute
    }
}

/// Asks for one of a user's attributes; a missing one is the empty string.
package struct GetUserAttribute: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.attribute.get"
    package typealias Reply = AttributeValue
    package var user: UserKey
    package var name: AttributeName

    package init(user: UserKey, name: AttributeName) {
        self.user = user
        self.name = name
    }
}

/// An attribute's value.
package struct AttributeValue: Equatable, Sendable {
    /// Empty when missing.
    package var value: String

    package init(value: String) { self.value = value }
}

/// Asks for all of a user's attributes.
package struct ListUserAttributes: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.attribute.list"
    package typealias Reply = AttributeList
    package var user: UserKey

    package init(user: UserKey) { self.user = user }
}

/// All attributes of a user or a channel, by name.
package struct AttributeList: Equatable, Sendable {
    /// Sorted by name.
    package var attributes: [Attribute]

    package init(attributes: [Attribute]) { self.attributes = attributes }
}
