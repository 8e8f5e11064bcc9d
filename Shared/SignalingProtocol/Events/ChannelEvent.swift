/// Something that happened in a channel, as published to its topic and kept in its log.
package struct ChannelEvent: Equatable, Sendable {
    /// Gap-free number within the channel, cluster-internal.
    package var sequence: Int64
    /// The `channel2` id for clients: the Redis clock in microseconds, strictly rising within the channel.
    package var id: Int64
    /// The account concerned: sender, joiner, leaver, setter.
    package var account: Account
    /// That account's number; 0 when it is no user of the cluster (a server).
    package var uid: UInt32
    /// What happened.
    package var kind: Kind

    /// What happened in the channel.
    package enum Kind: Equatable, Sendable {
        /// A message, verbatim.
        case message(String)
        /// A user joined.
        case joined
        /// A user left.
        case left
        /// Attributes changed.
        case attributes(AttributeChange)
    }

    package init(sequence: Int64, id: Int64, account: Account, uid: UInt32, kind: Kind) {
        self.sequence = sequence
        self.id = id
        self.account = account
        self.uid = uid
        self.kind = kind
    }
}
