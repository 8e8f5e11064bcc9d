package import BusProtocol
package import SignalingProtocol

/// A message to a channel.
package struct ChannelMessage: Equatable, Sendable {
    /// The channel that gets the message.
    package var channel: ChannelKey
    /// The sender's account.
    package var account: Account
    /// The sender's numeric id.
    package var uid: UInt32
    /// The message text, delivered unchanged.
    package var body: String
    /// The sender's session, which must still be current, or the session that stands for an app's server. Nil, the
    /// default, for a service that announces what has happened.
    package var fence: SessionFence?
    /// Whether the sender may send without being a member; default false.
    package var force = false
    /// The channel's message rate per second over the whole cluster, unless `_sendmsg_limit` overrides it. A million or
    /// more means no limit, and `_sendmsg_limit` is then ignored. Default: the documented rate.
    package var limitPerSecond = Limits.channelMessagesPerSecond
    /// Identifies repetitions of one send within a minute, which have no further effect; default nil, for a
    /// message that is never sent twice.
    package var command: CommandID?
    /// Who is told of the message as an event; default nil: nobody.
    package var told: MessageEvents?
    /// The request of the server API that sends it, for those who are told; default nil, for none.
    package var request: EventRequest?

    package init(channel: ChannelKey, account: Account, uid: UInt32, body: String) {
        self.channel = channel
        self.account = account
        self.uid = uid
        self.body = body
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

extension ChannelMessage {
    /// What is told of the message as an event; nil for nothing, or when nobody was in the channel.
    func row(_ sent: ChannelMessageSent) -> MessageMirrorRow? {
        guard let told, sent.id != 0 else { return nil }
        // A channel's ids are the microseconds in which its messages were sent, or slightly later ones.
        return MessageMirrorRow(
            WebhookMessage(
                from: account, to: .channel(channel.name), number: sent.id, size: body.utf8.count,
                text: told.withText ? body : nil),
            in: channel.app, sent: sent.id, stream: told.stream, for: request)
    }
}
