package import BusProtocol
package import ClusterState
package import SignalingProtocol

/// A message from one user to another, see ``MailboxBatch``.
package struct InstantMessage: Sendable {
    /// The receiver.
    package let to: UserKey
    /// The keys of the sender.
    package let sender: UserKeys
    /// The session that sends, which must still be current; ``SignalingProtocol/SessionID/server`` for an app's server.
    package let session: SessionID
    /// The `msg-v2` line.
    package let line: String
    /// How long the message may wait in the mailbox, in seconds as in its sender's frame. A number, because a
    /// `Duration` would cost every message a division of 128 bits.
    package let seconds: Int
    /// Identifies repetitions of one send within a minute, which have no further effect, so that the message is
    /// sent again (see ``MailboxBatch/patience``) when its outcome is lost with a connection. Default nil, for a
    /// message that is never sent twice.
    package var command: CommandID?
    /// The size limits of the receiver's mailbox.
    package var bounds = MailboxBounds()
    /// What is told of the message as an event; default nil, for nothing.
    package var told: ToldMessage?

    package init(
        to: UserKey, from sender: UserKeys, in session: SessionID, line: String, seconds: Int
    ) {
        self.to = to
        self.sender = sender
        self.session = session
        self.line = line
        self.seconds = seconds
    }
}

/// What is told of a message to a user as an event, besides its receiver and what becomes of it.
package struct ToldMessage: Sendable {
    let sender: Account
    let size: Int
    let text: String?
    let stream: MessageDetail?

    /// - Parameter events: who is told of the app's messages.
    package init(_ text: String, from sender: Account, as events: MessageEvents) {
        self.sender = sender
        size = text.utf8.count
        self.text = events.withText ? text : nil
        stream = events.stream
    }

    func row(to user: UserKey, _ sent: InstantMessageSent) -> MessageMirrorRow {
        MessageMirrorRow(
            WebhookMessage(
                from: sender, to: .user(user.account, isOnline: sent.isOnline), number: sent.version, size: size,
                text: text),
            in: user.app, sent: sent.microseconds, stream: stream)
    }
}

/// What became of a message to a user that is told as an event.
struct InstantMessageSent {
    let version: Int64
    let isOnline: Bool
    /// When it was sent; 0 for the repetition of one that was sent before webhooks were told of messages.
    let microseconds: Int64
}
