/// A read of a user's mailbox.
public struct MailboxPage: Equatable, Sendable {
    /// The highest version that was ever forgotten; 0 for a user who never had an entry.
    public var cleared: Int64
    /// The highest version that was ever given.
    public var highest: Int64
    /// The entries asked for, ascending, none of them expired.
    public var entries: [MailboxEntry]
    /// Whether there are entries above the last one given.
    public var more: Bool

    /// Makes a page.
    public init(cleared: Int64, highest: Int64, entries: [MailboxEntry], more: Bool) {
        self.cleared = cleared
        self.highest = highest
        self.entries = entries
        self.more = more
    }
}

/// A read of a channel's log.
public struct ChannelLogPage: Equatable, Sendable {
    /// The events asked for, ascending.
    public var events: [ChannelEvent]
    /// The channel's present sequence number; 0 for a channel that does not exist.
    public var sequence: Int64
    /// Whether no event between the asked-for start and the first given one is missing (trimmed from the log).
    public var complete: Bool

    /// Makes a page.
    public init(events: [ChannelEvent], sequence: Int64, complete: Bool) {
        self.events = events
        self.sequence = sequence
        self.complete = complete
    }
}
