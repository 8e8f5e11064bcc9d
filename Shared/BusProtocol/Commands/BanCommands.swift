package import SignalingProtocol

/// Keeps a user from logging in until a time, and ends the user's session. Replaces an earlier ban.
package struct BanUser: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.ban"
    package static let level: Int64 = 2
    package typealias Reply = UserBan
    package var user: UserKey
    /// When the ban ends, in Unix seconds.
    package var until: Int64
    /// What the app's server notes about it; the user is not told.
    package var reason: String

    package var subject: Subject { .user(user) }

    package init(user: UserKey, until: Int64, reason: String) {
        self.user = user
        self.until = until
        self.reason = reason
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user),
            until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason))
    }
}

/// Asks for a user's ban. Fails with `not_banned` when there is none, or its time is over.
package struct GetBan: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.ban.get"
    package static let level: Int64 = 2
    package typealias Reply = UserBan
    package var user: UserKey

    package var subject: Subject { .user(user) }

    package init(user: UserKey) { self.user = user }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

/// Ends a user's ban, if there is one.
package struct LiftBan: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.ban.lift"
    package static let level: Int64 = 2
    package typealias Reply = Done
    package var user: UserKey

    package var subject: Subject { .user(user) }

    package init(user: UserKey) { self.user = user }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user))
    }
}

/// A user's ban.
package struct UserBan: Equatable, Sendable, FieldRecord {
    /// How long a ban may last, in seconds: up to ten years.
    package static let seconds = 1...315_360_000
    /// Bytes of a ban's reason.
    package static let reasonBytes = 0...512

    /// When it ends, in Unix seconds.
    package var until: Int64
    /// What the app's server noted about it.
    package var reason: String
    /// When it was made, in Unix seconds.
    package var createdAt: Int64

    package init(until: Int64, reason: String, createdAt: Int64) {
        self.until = until
        self.reason = reason
        self.createdAt = createdAt
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason),
            createdAt: try fields.field("created", \.createdAt))
    }
}

/// Revokes the login tokens of a user that end at a time or earlier. Sessions go on.
package struct RevokeTokens: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.tokens.revoke"
    package static let level: Int64 = 2
    package typealias Reply = RevokedTokens
    package var user: UserKey
    /// In Unix seconds. Tokens that were revoked before stay so.
    package var until: Int64

    package var subject: Subject { .user(user) }

    package init(user: UserKey, until: Int64) {
        self.user = user
        self.until = until
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), until: try fields.field("until", \.until))
    }
}

/// Asks which login tokens of a user were revoked; before a token is made, for which the audit trail gets an entry.
package struct GetRevokedTokens: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "user.tokens.revoked"
    package static let level: Int64 = 2
    package typealias Reply = RevokedTokens
    package var user: UserKey
    /// For how many seconds a token is to be made that is valid from now; nil when none is.
    package var mintedSeconds: Int64?

    package var subject: Subject { .user(user) }

    package init(user: UserKey, mintedSeconds: Int64? = nil) {
        self.user = user
        self.mintedSeconds = mintedSeconds
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            user: try fields.fields(of: \.user), mintedSeconds: try fields.optional("minted", \.mintedSeconds))
    }
}

/// Which login tokens of a user were revoked.
package struct RevokedTokens: Equatable, Sendable, FieldRecord {
    /// Those that end at this time or earlier, in Unix seconds; 0 when none was.
    package var until: Int64

    package init(until: Int64) { self.until = until }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(until: try fields.field("until", \.until))
    }
}
