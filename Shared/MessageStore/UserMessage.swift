package import SignalingProtocol

/// A call event that a service adds to a user's mailbox, without a sender. Messages between users are sent with
/// ``MailboxBatch``.
package struct UserMessage: Equatable, Sendable {
    /// Which sessions may get the entry. Clients fail on events of calls that they do not
    /// know, so they must never get one.
    package enum Condition: Equatable, Sendable {
        /// Any session, including a later one.
        case always
        /// Any session, for an invitation; dropped together with the event that ends its call.
        case invitation(call: String)
        /// Only a live session that knows the call: the session `knownBy`, or one that has received, or
        /// will receive before this event, the invitation (the entry with version `invitedAt`). For any
        /// other session the event is dropped.
        case callEvent(type: String, call: String, knownBy: SessionID?, invitedAt: Int64?)
    }

    /// The user whose mailbox gets the entry.
    package var to: UserKey
    /// The `msg-v2` line.
    package var line: String
    /// How long the entry may wait in the mailbox.
    package var timeToLive: Duration
    /// Which sessions may get it.
    package var condition: Condition
    /// The size limits of the user's mailbox.
    package var bounds = MailboxBounds()
    /// Identifies repetitions of one send within a minute, which have no further effect; default nil, for a
    /// message that is never sent twice.
    package var command: CommandID?

    package init(to: UserKey, line: String, timeToLive: Duration, condition: Condition = .always) {
        self.to = to
        self.line = line
        self.timeToLive = timeToLive
        self.condition = condition
    }
}

/// The result of adding a ``UserMessage``.
package struct MessageQueued: Equatable, Sendable {
    /// The entry's version; 0 when it was dropped because no session may get it.
    package var version: Int64
    /// Whether the user has a session, connected or detached; false also when the version is 0.
    package var online: Bool

    package init(version: Int64, online: Bool) {
        self.version = version
        self.online = online
    }
}
