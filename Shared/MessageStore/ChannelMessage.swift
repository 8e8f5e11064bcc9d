package import SignalingProtocol

/// A message to a channel.
package struct ChannelMessage: Equatable, Sendable {
    /// Which channel.
    package var channel: ChannelKey
    /// Who sends it.
    package var account: Account
    /// The session that sends it; nil for a service.
    package var fence: SessionFence?
    /// The sender's number.
    package var uid: UInt32
    /// Whether the sender need not be a member.
    package var force: Bool
    /// Messages of the channel in a second, over the whole cluster, unless `_sendmsg_limit` says otherwise. A million or
    /// more: no limit, whatever `_sendmsg_limit` says.
    package var limitPerSecond: Int
    /// The message, verbatim.
    package var body: String
    /// Makes a repeated send take effect once within a minute; nil for a message that is sent once.
    package var command: CommandID?

    /// Makes a message.
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

/// A ``ChannelMessage`` was published.
package struct ChannelMessageSent: Equatable, Sendable {
    /// Its sequence number in the channel; 0 when the channel has no members to hear it.
    package var sequence: Int64
    /// Its `channel2` id.
    package var id: Int64

    /// Makes the answer.
    package init(sequence: Int64, id: Int64) {
        self.sequence = sequence
        self.id = id
    }
}
