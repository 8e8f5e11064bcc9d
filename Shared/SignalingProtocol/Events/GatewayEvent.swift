/// An event that is published to the topic of one gateway.
package enum GatewayEvent: Equatable, Sendable {
    /// The answer to a command: its fields, or why it failed.
    case reply(CommandID, Result<[UInt8], SignalingError>)
    /// Entries were added to mailboxes of users whose sessions are here.
    case mail([MailDelivery])
    /// The session was replaced by a newer login, or closed: `close` its connection with this code.
    case kicked(SessionID, SignalingCode)
    /// The session was resumed on another gateway: drop its connection silently.
    case moved(SessionID)
}

/// A waiting message for a session.
package struct MailDelivery: Equatable, Sendable {
    /// Whose user's mailbox has it.
    package var session: SessionID
    /// The version of the user's entry before this one; 0 for none. A receiver that has not seen it has missed an entry.
    package var previous: Int64
    /// The message.
    package var entry: MailboxEntry

    package init(session: SessionID, previous: Int64, entry: MailboxEntry) {
        self.session = session
        self.previous = previous
        self.entry = entry
    }
}

/// A waiting message.
package struct MailboxEntry: Equatable, Sendable {
    /// A number that rises with each entry of a user and is never reused.
    package var version: Int64
    /// The Redis clock (ms) after which it must not be delivered.
    package var expiresAt: Int64
    /// The `msg-v2` line for the client.
    package var line: String

    package init(version: Int64, expiresAt: Int64, line: String) {
        self.version = version
        self.expiresAt = expiresAt
        self.line = line
    }
}
