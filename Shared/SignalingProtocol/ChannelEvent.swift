/// Something that happened in a channel, as published to its topic and kept in its log.
public struct ChannelEvent: Equatable, Sendable {
    /// Gap-free number within the channel, cluster-internal.
    public var sequence: Int64
    /// The `channel2` id for clients: the Redis clock in microseconds, strictly rising within the channel.
    public var id: Int64
    /// The account concerned: sender, joiner, leaver, setter.
    public var account: Account
    /// That account's number; 0 when it is no user of the cluster (a server).
    public var uid: UInt32
    /// What happened.
    public var kind: Kind

    /// What happened in the channel.
    public enum Kind: Equatable, Sendable {
        /// A message, verbatim.
        case message(String)
        /// A user joined.
        case joined
        /// A user left.
        case left
        /// Attributes changed.
        case attributes(AttributeChange)
    }

    /// Makes an event.
    public init(sequence: Int64, id: Int64, account: Account, uid: UInt32, kind: Kind) {
        self.sequence = sequence
        self.id = id
        self.account = account
        self.uid = uid
        self.kind = kind
    }
}
