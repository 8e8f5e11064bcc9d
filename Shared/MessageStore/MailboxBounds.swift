package import BusProtocol
internal import SignalingProtocol

/// The size limits of a user's mailbox. At a limit, senders get ``SignalingCode/messageOther`` (`mailbox_full`).
package struct MailboxBounds: Equatable, Sendable {
    /// The largest number of messages.
    package var entries: Int
    /// The largest total size of messages in bytes, each counting 64 more than its line. Call events
    /// count, but are never refused for it.
    package var bytes: Int
    /// The largest number of call events. They are counted separately from messages.
    package var callEvents: Int

    /// Creates limits; by default those of ``Limits``.
    package init(
        entries: Int = Limits.mailboxEntries, bytes: Int = Limits.mailboxBytes,
        callEvents: Int = Limits.mailboxCallEvents
    ) {
        self.entries = entries
        self.bytes = bytes
        self.callEvents = callEvents
    }

    /// The limits configured for an app.
    package init(_ limits: AppLimits) {
        self.init(entries: limits.mailboxEntries, bytes: limits.mailboxBytes)
    }

    /// The largest number of entries with this condition.
    func entries(for condition: UserMessage.Condition) -> Int {
        switch condition {
        case .always: entries
        case .invitation, .callEvent: callEvents
        }
    }
}
