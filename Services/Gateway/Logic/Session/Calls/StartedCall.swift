internal import BusProtocol
internal import SignalingProtocol
internal import SignalingWire

/// A call whose turn has come: all that is needed to carry it out, besides what it asks for.
///
/// The order of the properties keeps ``SessionAction`` within 128 bytes: larger values are copied by `memmove`, which
/// took a quarter of the time that a session spends on a message.
package struct StartedCall: Equatable, Sendable {
    /// The session that makes the call.
    package let session: ActiveSession
    /// The facts needed to answer the call.
    package let ticket: CallTicket
    /// The limits of the session's app within which the call is executed.
    package let bounds: CallBounds
    /// The id that the client gave a message, if any.
    package let messageID: String?

    /// Creates the call of a session whose turn has come.
    init(_ call: ClientCall, _ ticket: CallTicket, by session: ActiveSession, within bounds: CallBounds = CallBounds())
    {
        self.session = session
        self.ticket = ticket
        self.bounds = bounds
        messageID = call.messageID
    }
}

/// The limits of an app that Redis or a service checks when it executes a call; 0 where they do not concern the call.
package struct CallBounds: Equatable, Sendable {
    // Narrow integers, see `StartedCall`; an app's limits fit.

    /// The largest number of messages that may wait in the receiver's mailbox.
    package private(set) var mailboxEntries: Int32 = 0
    /// The largest total size of those messages, in bytes.
    package private(set) var mailboxBytes: Int32 = 0
    /// How many such calls all members together may make in the channel per second.
    package private(set) var channelPerSecond: Int32 = 0

    /// No limits concern the call.
    init() {}

    /// The limits of a message to a user.
    init(mailbox limits: AppLimits) {
        mailboxEntries = Int32(clamping: limits.mailboxEntries)
        mailboxBytes = Int32(clamping: limits.mailboxBytes)
    }

    /// The limit of a message to a channel, or of a change of its attributes.
    init(channelPerSecond: Int) { self.channelPerSecond = Int32(clamping: channelPerSecond) }
}
