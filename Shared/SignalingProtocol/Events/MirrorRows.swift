/// A copy of a user's session as it was in Redis at some version.
package struct PresenceMirrorRow: Equatable, Sendable {
    /// The session's user.
    package var user: UserKey
    /// Increases with every change of the user's session.
    package var version: Int64
    /// Whether the session exists, default true; when it does not, the other fields describe the last one.
    package var present = true
    /// The account's numeric id.
    package var uid: UInt32
    /// The session's id.
    package var session: SessionID
    /// The gateway that holds the session's connection, or last held it.
    package var gateway: GatewayID
    /// The client's `device` field.
    package var device: String
    /// Whether the session currently has no connection; default false.
    package var detached = false
    /// When the session began.
    package var since: RedisTime

    /// Creates the row of a session that exists and has a connection.
    package init(of actor: Actor, version: Int64, gateway: GatewayID, device: String, since: RedisTime) {
        user = actor.user
        uid = actor.uid
        session = actor.session
        self.version = version
        self.gateway = gateway
        self.device = device
        self.since = since
    }
}

/// A copy of a channel membership as it was in Redis at some version.
package struct MemberMirrorRow: Equatable, Sendable {
    /// The channel of the membership.
    package var channel: ChannelKey
    /// The member's account.
    package var account: Account
    /// Increases with every change of the channel's members.
    package var version: Int64
    /// Whether the account is a member.
    package var present: Bool
    /// The account's numeric id.
    package var uid: UInt32
    /// When the account joined.
    package var joinedAt: RedisTime

    package init(of member: Member, in channel: ChannelKey, version: Int64, present: Bool, joinedAt: RedisTime) {
        self.channel = channel
        account = member.account
        uid = member.uid
        self.version = version
        self.present = present
        self.joinedAt = joinedAt
    }
}
