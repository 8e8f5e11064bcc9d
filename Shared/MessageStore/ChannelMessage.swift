package import SignalingProtocol

/// A message to a channel.
package struct ChannelMessage: Equatable, Sendable {
    /// The channel that gets the message.
    package var channel: ChannelKey
    /// The sender's account.
    package var account: Account
    /// The sender's session, which must still be current; nil when a service sends.
    package var fence: SessionFence?
    /// The sender's numeric id.
    package var uid: UInt32
    /// Whether the sender may send without being a member.
    package var force: Bool
    /// The channel's message rate per second over the whole cluster, unless `_sendmsg_limit` overrides it. A million or more
    /// means no limit, and `_sendmsg_limit` is then ignored.
    package var limitPerSecond: Int
    /// The message text, delivered unchanged.
    package var body: String
    /// Identifies repetitions of one send within a minute, which have no further effect; nil for a message that is never
    /// sent twice.
    package var command: CommandID?

    package init(
        channel: ChannelKey, account: Account, uid: UInt32, fence: SessionFence? = nil, force: Bool = false,
        limitPerSecond: Int = Limits.channelMessagesPerSecond, body: String, command: CommandID? = nil
    ) {
        self.channel = channel
        self.account = account
        self.uid = uid
        self.fence = fence
        self.force = force
        self.limitPerSecond = limitPerSecond
        self.body = body
        self.command = command
    }
}

/// The result of publishing a ``ChannelMessage``.
package struct ChannelMessageSent: Equatable, Sendable {
    /// The message's sequence number in the channel; 0 when the channel has no members.
    package var sequence: Int64
    /// The message's `channel2` id.
    package var id: Int64

    package init(sequence: Int64, id: Int64) {
        self.sequence = sequence
        self.id = id
    }
}
