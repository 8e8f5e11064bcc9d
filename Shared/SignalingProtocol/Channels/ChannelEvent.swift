/// An event in a channel, as published to the channel's topic and kept in its log.
package struct ChannelEvent: Equatable, Sendable {
    /// The number of the event within the channel, without gaps; not shown to clients.
    package var sequence: Int64
    /// The `channel2` id shown to clients: Redis' clock in microseconds, strictly increasing within the channel.
    package var id: Int64
    /// The account that the event is about: who sent, joined, left or changed an attribute.
    package var account: Account
    /// That account's numeric id; 0 for a server, which is not a user of the cluster.
    package var uid: UInt32
    /// What happened.
    package var kind: Kind

    /// The kinds of events in a channel.
    package enum Kind: Equatable, Sendable {
        /// A message was sent; its text is unchanged.
        case message(String)
        /// A user joined.
        case joined
        /// A user left.
        case left
        /// An attribute was changed.
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
