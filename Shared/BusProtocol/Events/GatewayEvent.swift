package import SignalingProtocol
internal import SignalingWire

/// An event published to the topic of one gateway.
package enum GatewayEvent: Equatable, Sendable {
    /// The reply to a command: its packed fields, or the error.
    case reply(CommandID, Result<[UInt8], SignalingError>)
    /// Entries were added to mailboxes of users whose sessions this gateway holds.
    case mail([MailDelivery])
    /// The session was replaced by a newer login, or ended: close its connection, with this code in the `close` frame.
    case kicked(SessionID, SignalingCode)
    /// The session was resumed on another gateway: close its connection without a `close` frame.
    case moved(SessionID)
    /// The app has removed the session from a channel.
    case removed(SessionID, ChannelRemoval)
    /// Something has happened in a media channel in which this gateway has participants.
    case media(MediaPublication)
    /// Somebody wants to know what happens on a user's connections.
    case trace(TraceOrder)
}

extension GatewayEvent {
    /// Parses a publication on a gateway's topic.
    /// - Throws: `SignalingError` (1001, `bad_event`), also for a kind that this release does not know.
    package init(payload: some Collection<UInt8>) throws(SignalingError) {
        guard let event = try payload.withBytes({ Self.decode($0) }).get() else {
            throw SignalingError(.failed, .badEvent, "a gateway event has an unknown kind")
        }
        self = event
    }

    /// Parses a contiguous payload; nil for an event of a kind that only a newer release knows. Not generic, because
    /// the gateway's fan-out calls it from another module: the compiler does not specialize generic code across
    /// modules, and unspecialized it takes a sixth longer.
    package static func decode(_ payload: UnsafeBufferPointer<UInt8>) -> Result<GatewayEvent?, SignalingError> {
        Result { () throws(SignalingError) in
            var fields = TextFields(payload, what: "a gateway event")
            return try read(&fields)
        }
    }

    private static func read(_ fields: inout TextFields) throws(SignalingError) -> GatewayEvent? {
        switch try fields.next() {
        case "reply":
            let command = CommandID(try fields.next())
            switch try fields.next() {
            case "ok": return .reply(command, .success(Array(fields.remainder)))
            case "error":
                let code = SignalingCode(rawValue: try fields.number(Int.self)) ?? .unknown
                let reason = SignalingReason(rawValue: try fields.next())
                return .reply(command, .failure(SignalingError(code, reason, try fields.remainderText())))
            default: throw fields.bad()
            }
        case "mail":
            var deliveries: [MailDelivery] = []
            repeat {
                let session = SessionID(try fields.next())
                let previous = try fields.number(Int64.self)
                let version = try fields.number(Int64.self)
                let expiresAt = RedisTime(milliseconds: try fields.number(Int64.self))
                let line = try fields.take(try fields.number(Int.self))
                deliveries.append(
                    MailDelivery(
                        session: session, previous: previous,
                        entry: MailboxEntry(version: version, expiresAt: expiresAt, line: line)))
            } while !fields.remainder.isEmpty
            return .mail(deliveries)
        case "kick":
            let session = SessionID(try fields.next())
            return .kicked(session, SignalingCode(rawValue: try fields.number(Int.self)) ?? .unknown)
        case "moved":
            return .moved(SessionID(try fields.next()))
        case "removed":
            return .removed(SessionID(try fields.next()), try ChannelRemoval(from: &fields))
        case "media": return .media(try MediaPublication(from: &fields))
        case "trace": return .trace(try TraceOrder(from: &fields))
        default:
            return nil
        }
    }

    /// The bytes to publish.
    package var payload: [UInt8] {
        switch self {
        case .reply(let command, .success(let fields)): Array("reply \(command) ok ".utf8) + fields
        case .reply(let command, .failure(let error)):
            Array("reply \(command) error \(error.code.rawValue) \(error.reason) \(error.message)".utf8)
        case .mail(let deliveries):
            Array("mail".utf8)
                + deliveries.flatMap { delivery in
                    let entry = delivery.entry
                    let expiry = entry.expiresAt.milliseconds
                    let head = " \(delivery.session) \(delivery.previous) \(entry.version) \(expiry)"
                    return Array("\(head) \(entry.line.utf8.count) \(entry.line)".utf8)
                }
        case .kicked(let session, let code): Array("kick \(session) \(code.rawValue)".utf8)
        case .moved(let session): Array("moved \(session)".utf8)
        case .removed(let session, let removal):
            Array("removed \(session) \(removal.moveNumber) \(removal.change) \(removal.channel)".utf8)
        case .media(let publication): Array("media \(publication.line)".utf8)
        case .trace(let order): Array("trace \(order.line)".utf8)
        }
    }
}

/// A session's removal from a channel by the app.
package struct ChannelRemoval: Equatable, Sendable {
    package var channel: ChannelName
    /// The number of the change of the channel's members: above the id of each join before it.
    package var change: Int64
    /// The number that the removal has among the session's joins and leaves.
    package var moveNumber: Int64

    package init(channel: ChannelName, change: Int64, moveNumber: Int64) {
        self.channel = channel
        self.change = change
        self.moveNumber = moveNumber
    }

    fileprivate init(from fields: inout TextFields) throws(SignalingError) {
        moveNumber = try fields.number(Int64.self)
        change = try fields.number(Int64.self)
        channel = try ChannelName(try fields.remainderText())
    }
}

/// A new mailbox entry for a session.
package struct MailDelivery: Equatable, Sendable {
    /// The session of the mailbox's user.
    package var session: SessionID
    /// The version of the user's previous entry; 0 when there is none. A receiver that does not have that one has
    /// missed an entry.
    package var previous: Int64
    package var entry: MailboxEntry

    package init(session: SessionID, previous: Int64, entry: MailboxEntry) {
        self.session = session
        self.previous = previous
        self.entry = entry
    }
}
