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
