/// Ends a user's session, whichever it is, by an administrator's order: its client is closed with 100.
package struct DisconnectUser: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.disconnect`.
    package static let operation = "user.disconnect"
    /// Nothing.
    package typealias Reply = Done
    /// Whom.
    package var user: UserKey

    /// Disconnects `user`.
    package init(user: UserKey) { self.user = user }
}

/// Asks whether a user is online (a detached session counts as online).
package struct QueryUserStatus: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.status`.
    package static let operation = "user.status"
    /// The status.
    package typealias Reply = UserStatus
    /// Whom.
    package var user: UserKey

    /// Asks about `user`.
    package init(user: UserKey) { self.user = user }
}

/// Whether a user is online.
package struct UserStatus: Equatable, Sendable {
    /// True from login to logout or `_conn_timeout` seconds after the connection is lost.
    package var online: Bool

    /// Makes the answer.
    package init(online: Bool) { self.online = online }
}

/// Sets one of a user's attributes; answered after the change is committed in PostgreSQL. The session must be the user's
/// present one, at the asking gateway.
package struct SetUserAttribute: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.attribute.set`.
    package static let operation = "user.attribute.set"
    /// Nothing.
    package typealias Reply = Done
    /// Whose.
    package var user: UserKey
    /// By which session.
    package var session: SessionID
    /// What.
    package var attribute: Attribute

    /// Sets `attribute`.
    package init(user: UserKey, session: SessionID, attribute: Attribute) {
        self.user = user
        self.session = session
        self.attribute = attribute
    }
}

/// Asks for one of a user's attributes; a missing one is the empty string.
package struct GetUserAttribute: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.attribute.get`.
    package static let operation = "user.attribute.get"
    /// The value.
    package typealias Reply = AttributeValue
    /// Whose.
    package var user: UserKey
    /// Which.
    package var name: AttributeName

    /// Asks for `name`.
    package init(user: UserKey, name: AttributeName) {
        self.user = user
        self.name = name
    }
}

/// An attribute's value.
package struct AttributeValue: Equatable, Sendable {
    /// Empty when missing.
    package var value: String

    /// Makes the answer.
    package init(value: String) { self.value = value }
}

/// Asks for all of a user's attributes.
package struct ListUserAttributes: ServiceCommand {
    /// presence.
    package static let service = ServiceName.presence
    /// `user.attribute.list`.
    package static let operation = "user.attribute.list"
    /// All of them.
    package typealias Reply = AttributeList
    /// Whose.
    package var user: UserKey

    /// Asks for `user`'s.
    package init(user: UserKey) { self.user = user }
}

/// All attributes of a user or a channel, by name.
package struct AttributeList: Equatable, Sendable {
    /// Sorted by name.
    package var attributes: [Attribute]

    /// Makes the answer.
    package init(attributes: [Attribute]) { self.attributes = attributes }
}
