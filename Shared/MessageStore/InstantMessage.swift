package import BusProtocol
internal import ClusterBus
package import ClusterState
internal import RedisClient
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
    let request: EventRequest?

    /// - Parameters:
    ///   - events: who is told of the app's messages.
    ///   - request: the request of the server API that sends it; default nil, for none.
    package init(_ text: String, from sender: Account, as events: MessageEvents, for request: EventRequest? = nil) {
        self.sender = sender
        size = text.utf8.count
        self.text = events.withText ? text : nil
        stream = events.stream
        self.request = request
    }

    func row(to user: UserKey, _ sent: InstantMessageSent) -> MessageMirrorRow {
        MessageMirrorRow(
            WebhookMessage(
                from: sender, to: .user(user.account, isOnline: sent.isOnline), number: sent.version, size: size,
                text: text),
            in: user.app, sent: sent.microseconds, stream: stream, for: request)
    }
}

/// What became of a message to a user.
struct InstantMessageSent {
    /// The version of its entry; 0 for the repetition of one that was sent before.
    let version: Int64
    /// Whether the receiver has a session; only of messages that are told as events.
    var isOnline = false
    /// When it was sent; only of messages that are told as events, and 0 for the repetition of one that was not.
    var microseconds: Int64 = 0
    /// The last version of the mailbox of a session of the calling gateway, when the message was sent before and had no
    /// effect now: the session may not have been told of it.
    var latest: (session: SessionID, version: Int64)?
    /// Where it must be delivered here; nil when it is published to another gateway, or to nobody.
    var own: OwnPlace?

    /// The place of an entry in the mailbox of a session of the calling gateway.
    struct OwnPlace {
        /// The version before; 0 when there is none.
        let previous: Int64
        let session: SessionID
    }

    /// Reads an element of the reply to `messages_to_users` or, where messages are told as events,
    /// `messages_to_users_told`.
    static func read(_ value: RedisValue, isTold: Bool) -> Result<InstantMessageSent, SignalingError> {
        switch value {
        case .integer(let version): return .success(InstantMessageSent(version: version))
        case .error(let error): return .failure(error.signaling)
        case .array(let parts):
            guard let version = parts.first?.int,
                let sent = InstantMessageSent(version, parts.dropFirst(), isTold: isTold)
            else { return .failure(.unreadableAnswer) }
            return .success(sent)
        case .null, .simple, .bulk: return .failure(.unreadableAnswer)
        }
    }

    private init?(_ version: Int64, _ parts: ArraySlice<RedisValue>, isTold: Bool) {
        self.version = version
        var parts = parts
        if isTold {
            guard let online = parts.popFirst()?.int, let microseconds = parts.popFirst()?.int else { return nil }
            (isOnline, self.microseconds) = (online == 1, microseconds)
        }
        guard let next = parts.popFirst() else { return }
        if let previous = next.int {
            guard let session = parts.popFirst()?.string else { return nil }
            own = OwnPlace(previous: previous, session: SessionID(session))
        } else {
            guard next.string == "again" else { return nil }
            guard let session = parts.popFirst() else { return }
            guard let session = session.string, let last = parts.popFirst()?.int else { return nil }
            latest = (SessionID(session), last)
        }
    }

    private init(version: Int64) { self.version = version }
}
