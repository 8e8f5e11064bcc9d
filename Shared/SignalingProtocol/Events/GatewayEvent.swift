/// An event published to the topic of one gateway.
package enum GatewayEvent: Equatable, Sendable {
    /// The reply to a command: its packed fields, or the error.
    case reply(CommandID, Result<[UInt8], SignalingError>)
    /// Entries were added to mailboxes of users whose sessions this gateway holds.
    case mail([MailDelivery])
    /// The session was replaced by a newer login, or ended: close its connection, with this code in the `close` frame.
    case kicked(SessionID, SignalingCode)
    /// The session was resumed on another gateway: close its connection without a `close` frame.
    case moved(SessionID)
    /// Something has happened in a media channel in which this gateway has participants.
    case media(MediaPublication)
}

/// A new mailbox entry for a session.
package struct MailDelivery: Equatable, Sendable {
    /// The session of the mailbox's user.
    package var session: SessionID
    /// The version of the user's previous entry; 0 when there is none. A receiver that does not have that one has
    /// missed an entry.
    package var previous: Int64
    package var entry: MailboxEntry

    package init(session: SessionID, previous: Int64, entry: MailboxEntry) {
        self.session = session
        self.previous = previous
        self.entry = entry
    }
}

/// A message that waits in a user's mailbox.
package struct MailboxEntry: Equatable, Sendable {
    /// The entry's version: it increases with each entry of a user and is never reused.
    package var version: Int64
    /// The time from which on the entry must not be delivered.
    package var expiresAt: RedisTime
    /// The `msg-v2` line for the client.
    package var line: String

    package init(version: Int64, expiresAt: RedisTime, line: String) {
        self.version = version
        self.expiresAt = expiresAt
        self.line = line
    }
}
