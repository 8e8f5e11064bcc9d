/// A read of a user's mailbox.
package struct MailboxPage: Equatable, Sendable {
    /// The highest version that was ever forgotten; 0 for a user who never had an entry.
    package var cleared: Int64
    /// The last version that was given.
    package var highest: Int64
    /// The entries asked for, ascending, none of them expired.
    package var entries: [MailboxEntry]
    /// The version up to which was read; above the last entry where what follows it has expired.
    package var through: Int64
    /// Whether there may be entries above ``through``, be there any in this page or not.
    package var more: Bool
    /// The Redis clock at the read, ms.
    package var now: Int64

    package init(cleared: Int64, highest: Int64, entries: [MailboxEntry], through: Int64, more: Bool, now: Int64) {
        self.cleared = cleared
        self.highest = highest
        self.entries = entries
        self.through = through
        self.more = more
        self.now = now
    }
}

/// A place among a channel's events.
package struct ChannelPosition: Equatable, Sendable {
    /// The sequence number of the last event before it; 0 when not known. It falls when Redis comes back older than it was.
    package var sequence: Int64
    /// The id of that event, or a later one that no event has. It never falls.
    package var id: Int64

    package init(sequence: Int64, id: Int64) {
        self.sequence = sequence
        self.id = id
    }
}

/// A read of a channel's log.
package struct ChannelLogPage: Equatable, Sendable {
    /// The events asked for, ascending.
    package var events: [ChannelEvent]
    /// The channel's last event at the read; sequence 0 for a channel that does not exist.
    package var latest: ChannelPosition
    /// Whether no event between the asked-for start and the first given one is missing (trimmed from the log).
    package var complete: Bool
    /// What was read up to: where to read on.
    package var through: ChannelPosition
    /// Whether there are more events above ``through``.
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
