package import SignalingProtocol

/// The result of reading a user's mailbox.
package struct MailboxPage: Equatable, Sendable {
    /// The highest version that was ever deleted; 0 for a user who never had an entry.
    package var cleared: Int64
    /// The last version that was assigned.
    package var highest: Int64
    /// The requested entries, ascending, without expired ones.
    package var entries: [MailboxEntry]
    /// The time of the read.
    package var now: RedisTime
    /// The version up to which the mailbox was read; above the last entry when the entries after it had expired.
    package var through: Int64
    /// Whether there may be entries above ``through``, even when this page has none.
    package var more = false

    /// Creates a page that reaches the mailbox's end.
    package init(cleared: Int64, highest: Int64, entries: [MailboxEntry], now: RedisTime) {
        self.cleared = cleared
        self.highest = highest
        self.entries = entries
        self.now = now
        through = highest
    }
}

/// A position in the sequence of a channel's events.
package struct ChannelPosition: Equatable, Sendable {
    /// The sequence number of the last event up to here; 0 when unknown. Falls when Redis returns with older data.
    package var sequence: Int64
    /// The id of that event, or a later id that no event has. Never falls.
    package var id: Int64

    package init(sequence: Int64, id: Int64) {
        self.sequence = sequence
        self.id = id
    }
}

/// The result of reading a channel's log.
package struct ChannelLogPage: Equatable, Sendable {
    /// The requested events, ascending; descending where they are read backwards.
    package var events: [ChannelEvent]
    /// The position of the channel's last event; sequence 0 for a channel that does not exist.
    package var latest: ChannelPosition
    /// Whether no event between the requested start and the first returned one is missing, as trimmed ones are.
    package var complete: Bool
    /// The position up to which the log was read, from which to continue.
    package var through: ChannelPosition
    /// Whether there are events after ``through``.
    package var more: Bool

    package init(
        events: [ChannelEvent], latest: ChannelPosition, complete: Bool, through: ChannelPosition, more: Bool
    ) {
        self.events = events
        self.latest = latest
        self.complete = complete
        self.through = through
        self.more = more
    }
}
