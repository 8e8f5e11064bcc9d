package import SignalingProtocol

/// An entry for a user's mailbox that a service adds, in nobody's name: a call event. Messages go by ``MailboxBatch``.
package struct UserMessage: Equatable, Sendable {
    /// When the entry may be delivered. Clients fail on events of calls that they do not know, so they never get one.
    package enum Condition: Equatable, Sendable {
        /// To any session, also a later one.
        case always
        /// The same, for an invitation; it is dropped together with the end of its call.
        case invitation(call: String)
        /// Only to a live session that knows the call: the session `knownBy`, or one that has got, or will get before this
        /// event, the invitation, which is the entry of version `invitedAt`. Otherwise the event is dropped.
        case callEvent(type: String, call: String, knownBy: SessionID?, invitedAt: Int64?)
    }

    /// Whose mailbox.
    package var to: UserKey
    /// The `msg-v2` line.
    package var line: String
    /// How long the entry may wait, ms.
    package var timeToLive: Int64
    /// When it may be delivered.
    package var condition: Condition
    /// How much may wait for the user.
    package var bounds: MailboxBounds
    /// Makes a repeated send take effect once within a minute; nil for a message that is sent once.
    package var command: CommandID?

    /// Makes an entry.
    package init(
        to: UserKey, line: String, timeToLive: Int64, condition: Condition = .always,
        bounds: MailboxBounds = MailboxBounds(), command: CommandID? = nil
    ) {
        self.to = to
        self.line = line
        self.timeToLive = timeToLive
        self.condition = condition
        self.bounds = bounds
        self.command = command
    }
}

/// What became of a ``UserMessage``.
package struct MessageQueued: Equatable, Sendable {
    /// The entry's version; 0 when it was dropped because nobody may see it.
    package var version: Int64
    /// Whether the user has a session, connected or detached; false also when the version is 0.
    package var online: Bool

    /// Makes the answer.
    package init(version: Int64, online: Bool) {
        self.version = version
        self.online = online
    }
}
