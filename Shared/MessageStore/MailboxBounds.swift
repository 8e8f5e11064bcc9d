package import SignalingProtocol

/// How much may wait for a user; past it the sender is told ``SignalingCode/messageOther`` (`mailbox_full`).
package struct MailboxBounds: Equatable, Sendable {
    /// Messages.
    package var entries: Int
    /// Bytes of messages, each counting 64 more than its line. Call events count too, but are not refused for it.
    package var bytes: Int
    /// Call events, which have room of their own.
    package var callEvents: Int

    /// Takes the bounds; by default those of ``Limits``.
    package init(
        entries: Int = Limits.mailboxEntries, bytes: Int = Limits.mailboxBytes,
        callEvents: Int = Limits.mailboxCallEvents
    ) {
        self.entries = entries
        self.bytes = bytes
        self.callEvents = callEvents
    }

    /// Those of an app.
    package init(_ limits: AppLimits) {
        self.init(entries: limits.mailboxEntries, bytes: limits.mailboxBytes)
    }

    /// How many entries of a kind there may be.
    func entries(for condition: UserMessage.Condition) -> Int {
        switch condition {
        case .always: entries
        case .invitation, .callEvent: callEvents
        }
    }
}
