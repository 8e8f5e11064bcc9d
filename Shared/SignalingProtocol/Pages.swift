/// A read of a user's mailbox.
public struct MailboxPage: Equatable, Sendable {
    /// The highest version that was ever forgotten; 0 for a user who never had an entry.
    public var cleared: Int64
    /// The last version that was given.
    public var highest: Int64
    /// The entries asked for, ascending, none of them expired.
    public var entries: [MailboxEntry]
    /// The version up to which was read; above the last entry where what follows it has expired.
    public var through: Int64
    /// Whether there may be entries above ``through``, be there any in this page or not.
    public var more: Bool
    /// The Redis clock at the read, ms.
    public var now: Int64

    /// Makes a page.
    public init(cleared: Int64, highest: Int64, entries: [MailboxEntry], through: Int64, more: Bool, now: Int64) {
        self.cleared = cleared
        self.highest = highest
        self.entries = entries
        self.through = through
        self.more = more
        self.now = now
    }
}

/// A place among a channel's events.
public struct ChannelPosition: Equatable, Sendable {
    /// The sequence number of the last event before it; 0 when not known. It falls when Redis comes back older than it was.
    public var sequence: Int64
    /// The id of that event, or a later one that no event has. It never falls.
    public var id: Int64

    /// Makes a position.
    public init(sequence: Int64, id: Int64) {
        self.sequence = sequence
        self.id = id
    }
}

/// A read of a channel's log.
public struct ChannelLogPage: Equatable, Sendable {
    /// The events asked for, ascending.
    public var events: [ChannelEvent]
    /// The channel's last event at the read; sequence 0 for a channel that does not exist.
    public var latest: ChannelPosition
    /// Whether no event between the asked-for start and the first given one is missing (trimmed from the log).
    public var complete: Bool
    /// What was read up to: where to read on.
    public var through: ChannelPosition
    /// Whether there are more events above ``through``.
    public var more: Bool

    /// Makes a page.
    public init(
        events: [ChannelEvent], latest: ChannelPosition, complete: Bool, through: ChannelPosition, more: Bool
    ) {
        self.events = events
        self.latest = latest
        self.complete = complete
        self.through = through
        self.more = more
    }
}
