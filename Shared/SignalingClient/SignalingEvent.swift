@_exported public import enum SignalingProtocol.SignalingCode
@_exported public import struct SignalingProtocol.SignalingError

/// Something that happened to a client that it did not ask for just now.
public enum SignalingEvent: Sendable, Equatable {
    /// The session is open; the uid is the account's number.
    case loggedIn(uid: UInt32)
    /// The login failed for good. The last event.
    case loginFailed(SignalingError)
    /// The connection is lost; this is attempt number `attempt` (from 1) to resume the session elsewhere.
    case reconnecting(attempt: Int)
    /// The session goes on. `complete` is false when channel events of the meantime may be missing.
    case reconnected(complete: Bool)
    /// The session is over, with a code from 100 to 108. The last event.
    case loggedOut(SignalingError)
    /// A message to this user.
    case message(InstantMessage)
    /// A message in the channel, one's own included.
    case channelMessage(channel: String, account: String, uid: UInt32, text: String)
    /// Somebody came into the channel.
    case memberJoined(channel: String, account: String, uid: UInt32)
    /// Somebody left the channel.
    case memberLeft(channel: String, account: String, uid: UInt32)
    /// An attribute of the channel changed.
    case channelAttribute(channel: String, account: String, uid: UInt32, change: ChannelAttributeChange)
    /// This client is in the channel no more, though it did not ask to leave.
    case channelLeft(channel: String, code: SignalingCode)
    /// Something happened in a call.
    case call(CallEvent)
}

/// A message to this user.
public struct InstantMessage: Sendable, Equatable {
    /// Who sent it.
    public var account: String
    /// What it says.
    public var text: String
    /// When it was sent, Unix seconds.
    public var time: Int64

    /// Joins the three.
    public init(account: String, text: String, time: Int64) {
        self.account = account
        self.text = text
        self.time = time
    }
}

/// How a channel's attributes changed.
public enum ChannelAttributeChange: Sendable, Equatable {
    /// One was set.
    case update(name: String, value: String)
    /// One was deleted.
    case delete(name: String)
    /// All were deleted.
    case clear
}

/// Something that happened in a call. Source: Signaling API, "Call invitations".
public struct CallEvent: Sendable, Equatable {
    /// What happened.
    public enum Kind: Sendable, Equatable {
        /// The peer invites this user; the client has acknowledged it.
        case invited
        /// The peer's client has the invitation.
        case delivered
        /// The peer accepted.
        case accepted
        /// The peer refused.
        case refused
        /// The peer ended the call.
        case ended
        /// The invitation failed: 700, 703 or 704.
        case failed(SignalingCode)
        /// The peer sent something within the call (DTMF).
        case message(type: String, data: String)
    }

    /// What happened.
    public var kind: Kind
    /// The channel that the call is about.
    public var channel: String
    /// The other party.
    public var peer: String
    /// The other party's number; 0 when it is no user.
    public var uid: UInt32
    /// The other party's text, JSON by convention.
    public var extra: String

    /// Joins them.
    public init(kind: Kind, channel: String, peer: String, uid: UInt32, extra: String) {
        self.kind = kind
        self.channel = channel
        self.peer = peer
        self.uid = uid
        self.extra = extra
    }
}

/// What a client is doing. Source: Signaling API, `getStatus`.
public enum ClientStatus: Int, Sendable {
    /// Not logged in.
    case loggedOut = 0
    /// Logging in.
    case loggingIn = 1
    /// Logged in.
    case online = 2
    /// Logged in, and looking for a gateway to go on with.
    case reconnecting = 3
}
