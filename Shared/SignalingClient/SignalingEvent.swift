@_exported public import enum SignalingProtocol.SignalingCode
@_exported public import struct SignalingProtocol.SignalingError

/// Something that happened to a client. Source: Signaling API, callbacks; `Docs/protocol.md`.
public enum SignalingEvent: Sendable, Equatable {
    /// The login succeeded. `uid` is the account's numeric id within its app.
    case loggedIn(uid: UInt32)
    /// The login failed, with a code from 201 to 209 or 1001; no further attempt is made. The last event.
    case loginFailed(SignalingError)
    /// The connection is lost and the client tries to resume the session; `attempt` counts from 1.
    case reconnecting(attempt: Int)
    /// The session was resumed. If `complete` is false, channel events published meanwhile may be missing; messages to
    /// the user never are.
    case reconnected(complete: Bool)
    /// The session has ended, with a code from 100 to 108. The last event.
    case loggedOut(SignalingError)
    /// A user has sent a message to this one.
    case message(InstantMessage)
    /// A member, perhaps this user, has sent a message to the channel. `uid` is the sender's numeric id.
    case channelMessage(channel: String, account: String, uid: UInt32, text: String)
    /// A user has joined the channel.
    case memberJoined(channel: String, account: String, uid: UInt32)
    /// A user has left the channel or gone offline.
    case memberLeft(channel: String, account: String, uid: UInt32)
    /// A user has changed the channel's attributes.
    case channelAttribute(channel: String, account: String, uid: UInt32, change: ChannelAttributeChange)
    /// This user is not a member of the channel any more, without having left it; the code is 600, 601, 603 or 604.
    case channelLeft(channel: String, code: SignalingCode)
    /// Something happened in a call.
    case call(CallEvent)
}

/// A message from one user to another.
public struct InstantMessage: Sendable, Equatable {
    /// The sender's account.
    public var account: String
    /// The text, at most 8192 bytes.
    public var text: String
    /// When the cluster accepted the message, in Unix seconds.
    public var time: Int64

    /// Creates a message, for an app's own tests and previews.
    public init(account: String, text: String, time: Int64) {
        self.account = account
        self.text = text
        self.time = time
    }
}

/// A change to a channel's attributes.
public enum ChannelAttributeChange: Sendable, Equatable {
    /// An attribute has a new value.
    case update(name: String, value: String)
    /// An attribute was deleted.
    case delete(name: String)
    /// All attributes were deleted.
    case clear
}

/// Something that happened in a call. Source: Signaling API, "Call invitations"; `Docs/protocol.md`.
public struct CallEvent: Sendable, Equatable {
    /// The kinds of events in a call.
    public enum Kind: Sendable, Equatable {
        /// The peer invites this user. The client has already informed the peer that the invitation has arrived.
        case invited
        /// The invitation has arrived at the peer's client.
        case delivered
        /// The peer has accepted.
        case accepted
        /// The peer has refused.
        case refused
        /// The peer has ended the call.
        case ended
        /// The invitation failed: 703 the peer is offline, 704 nobody answered in time, 700 any other reason.
        case failed(SignalingCode)
        /// The peer has sent something within the call. For DTMF digits, `type` is `dtmf`.
        case message(type: String, data: String)
    }

    /// What happened.
    public var kind: Kind
    /// The channel that the call is about.
    public var channel: String
    /// The other party's account, or its phone number.
    public var peer: String
    /// The other party's numeric id within the app; 0 for a telephone.
    public var uid: UInt32
    /// Text added by the other party or the system: JSON, or empty.
    public var extra: String

    /// Creates an event, for an app's own tests and previews.
    public init(kind: Kind, channel: String, peer: String, uid: UInt32, extra: String) {
        self.kind = kind
        self.channel = channel
        self.peer = peer
        self.uid = uid
        self.extra = extra
    }
}

/// The states of a client; the numbers are those of `getStatus`. Source: Signaling API.
public enum ClientStatus: Int, Sendable {
    /// Not logged in, or logging out.
    case loggedOut = 0
    /// Logging in for the first time.
    case loggingIn = 1
    /// Logged in and connected.
    case online = 2
    /// Logged in, but without a connection: the client tries to resume the session on another gateway.
    case reconnecting = 3
}
