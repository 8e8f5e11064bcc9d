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
