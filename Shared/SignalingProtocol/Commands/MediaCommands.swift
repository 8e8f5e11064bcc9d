/// Lets a participant into a channel of a node. The gateway has checked all that concerns the app: the names,
/// the uid, the key, and the sizes.
package struct JoinMedia: ServiceCommand {
    package static let service = ServiceName.media
    package static let operation = "media.join"
    package typealias Reply = MediaJoined
    /// The node.
    package var to: MediaNodeID
    package var channel: MediaChannelKey
    /// The participant's id, chosen by the gateway so that it knows what events before the reply are about. The gateway
    /// that asks gets the participant's events.
    package var participant: ParticipantID
    /// 0 for any that is free.
    package var uid: UInt32
    /// The id that the client gave its call: with the same one, a member of that uid goes on without an event.
    package var call: String
    /// Only what the client says: whether it is muted and has video.
    package var flags: MediaFlags
    /// When the service that the key is for ends, in Unix seconds; 0 for never.
    package var expiry: Int64
    /// The client's remark, for the record of the call.
    package var info: String
    package var transport: MediaTransportOffer

    package var subject: Subject { .mediaNode(to) }
    package var node: MediaNodeID? { to }

    package init(
        to: MediaNodeID, channel: MediaChannelKey, participant: ParticipantID, uid: UInt32, call: String,
        flags: MediaFlags = [], expiry: Int64 = 0, info: String = "", transport: MediaTransportOffer
    ) {
        self.to = to
        self.channel = channel
        self.participant = participant
        self.uid = uid
        self.call = call
        self.flags = flags
        self.expiry = expiry
        self.info = info
        self.transport = transport
    }
}

/// What a participant brings for its path to the node.
package enum MediaTransportOffer: Equatable, Sendable {
    /// An engine's X25519 key in base64, and the names of its codecs, such as `opus`.
    case engine(publicKey: String, codecs: [String])
    /// A page's offer: a session description.
    case web(offer: String)
}

/// The reply to ``JoinMedia``.
package struct MediaJoined: Equatable, Sendable {
    /// The uid, also when it was asked for.
    package var uid: UInt32
    /// What the participant must know to resume, restart or renew.
    package var secret: String
    /// Grows with each node that the channel has been on.
    package var epoch: Int64
    /// The number of the roster's last change.
    package var n: Int64
    /// The members at that number, oldest first, with the participant itself.
    package var users: [MediaUser]
    package var transport: MediaTransportAnswer

    package init(
        uid: UInt32, secret: String, epoch: Int64, n: Int64, users: [MediaUser], transport: MediaTransportAnswer
    ) {
        self.uid = uid
        self.secret = secret
        self.epoch = epoch
        self.n = n
        self.users = users
        self.transport = transport
    }
}

/// A member of a media channel, as in answers and events.
package struct MediaUser: Hashable, Sendable {
    package var uid: UInt32
    package var flags: MediaFlags
    /// For how long it has been a member, in ms.
    package var age: Int64

    package init(uid: UInt32, flags: MediaFlags, age: Int64) {
        self.uid = uid
        self.flags = flags
        self.age = age
    }
}

/// The node's side of a participant's path.
package enum MediaTransportAnswer: Equatable, Sendable {
    case engine(EngineTransport)
    /// A session description.
    case web(answer: String)
}

/// What an engine needs to send to a node, and to receive from it.
package struct EngineTransport: Equatable, Sendable {
    /// Where the node receives.
    package var candidates: [MediaCandidate]
    /// The node's credentials of ICE (RFC 8445): the user name fragment and the password of checks to it.
    package var ufrag: String
    package var password: String
    /// The node's X25519 key in base64.
    package var publicKey: String
    /// The SRTP profile (RFC 7714): `AEAD_AES_128_GCM`.
    package var suite: String
    /// The SSRC that the engine sends its audio with.
    package var audioSource: UInt32
    /// The SSRCs that it gets audio with, one for each slot.
    package var audioSlots: [UInt32]
    /// The payload type of Opus, in both directions.
    package var opus: Int

    package init(
        candidates: [MediaCandidate], ufrag: String, password: String, publicKey: String, suite: String,
        audioSource: UInt32, audioSlots: [UInt32], opus: Int
    ) {
        self.candidates = candidates
        self.ufrag = ufrag
        self.password = password
        self.publicKey = publicKey
        self.suite = suite
        self.audioSource = audioSource
        self.audioSlots = audioSlots
        self.opus = opus
    }
}

/// An address at which a node receives media.
package struct MediaCandidate: Hashable, Sendable {
    /// `udp` or `tcp`.
    package var transport: String
    /// An IPv4 or IPv6 address.
    package var address: String
    package var port: Int

    package init(transport: String, address: String, port: Int) {
        self.transport = transport
        self.address = address
        self.port = port
    }
}

/// Ends a participant: it has left, or the gateway has lost it before it was answered.
package struct LeaveMedia: ServiceCommand {
    package static let service = ServiceName.media
    package static let operation = "media.leave"
    package typealias Reply = MediaLeft
    /// The node.
    package var from: MediaNodeID
    package var channel: MediaChannelKey
    package var participant: ParticipantID

    package var subject: Subject { .mediaNode(from) }
    package var node: MediaNodeID? { from }

    package init(from: MediaNodeID, channel: MediaChannelKey, participant: ParticipantID) {
        self.from = from
        self.channel = channel
        self.participant = participant
    }
}

/// The reply to ``LeaveMedia``.
package struct MediaLeft: Equatable, Sendable {
    /// From the join to the end, in ms.
    package var duration: Int64
    /// What the participant has sent and received, in bytes of its datagrams.
    package var bytes: Int64

    package init(duration: Int64, bytes: Int64) {
        self.duration = duration
        self.bytes = bytes
    }
}

/// Changes what a participant sends. Only the gateway that it is bound to may ask.
package struct MuteMedia: ServiceCommand {
    package static let service = ServiceName.media
    package static let operation = "media.mute"
    package typealias Reply = MediaMuted
    /// The node.
    package var to: MediaNodeID
    package var channel: MediaChannelKey
    package var participant: ParticipantID
    package var change: MediaMute

    package var subject: Subject { .mediaNode(to) }
    package var node: MediaNodeID? { to }

    package init(to: MediaNodeID, channel: MediaChannelKey, participant: ParticipantID, change: MediaMute) {
        self.to = to
        self.channel = channel
        self.participant = participant
        self.change = change
    }
}

/// A change of what a participant sends; nil for what stays as it is.
package struct MediaMute: Hashable, Sendable {
    /// Whether its audio is muted.
    package var audio: Bool?
    /// Whether its video is muted.
    package var video: Bool?
    /// Whether it has video.
    package var enabled: Bool?

    package init(audio: Bool? = nil, video: Bool? = nil, enabled: Bool? = nil) {
        self.audio = audio
        self.video = video
        self.enabled = enabled
    }
}

/// Binds a participant to the gateway that asks, which gets its events from then on.
package struct ResumeMedia: ServiceCommand {
    package static let service = ServiceName.media
    package static let operation = "media.resume"
    package typealias Reply = MediaResumed
    /// The node.
    package var to: MediaNodeID
    package var channel: MediaChannelKey
    package var participant: ParticipantID
    /// What the answer to the join has told.
    package var secret: String

    package var subject: Subject { .mediaNode(to) }
    package var node: MediaNodeID? { to }

    package init(to: MediaNodeID, channel: MediaChannelKey, participant: ParticipantID, secret: String) {
        self.to = to
        self.channel = channel
        self.participant = participant
        self.secret = secret
    }
}

/// The reply to ``MuteMedia``.
package struct MediaMuted: Equatable, Sendable {
    /// The number of the roster's change; nil when nothing has changed, and of a node of the release before.
    package var n: Int64?

    package init(n: Int64?) { self.n = n }
}

/// The reply to ``ResumeMedia``.
package struct MediaResumed: Equatable, Sendable {
    /// The uid that the participant has asked for, which its keys are for: 0 if the node has chosen one.
    package var keyUID: UInt32
    /// The number of the roster's last change.
    package var n: Int64
    /// The members at that number, oldest first.
    package var users: [MediaUser]

    package init(keyUID: UInt32, n: Int64, users: [MediaUser]) {
        self.keyUID = keyUID
        self.n = n
        self.users = users
    }
}

/// Begins a participant's path anew, with the same uid and slots, and binds it to the gateway that asks.
package struct RestartMedia: ServiceCommand {
    package static let service = ServiceName.media
    package static let operation = "media.restart"
    package typealias Reply = MediaRestarted
    /// The node.
    package var to: MediaNodeID
    package var channel: MediaChannelKey
    package var participant: ParticipantID
    /// What the answer to the join has told.
    package var secret: String
    package var transport: MediaTransportOffer

    package var subject: Subject { .mediaNode(to) }
    package var node: MediaNodeID? { to }

    package init(
        to: MediaNodeID, channel: MediaChannelKey, participant: ParticipantID, secret: String,
        transport: MediaTransportOffer
    ) {
        self.to = to
        self.channel = channel
        self.participant = participant
        self.secret = secret
        self.transport = transport
    }
}

/// The reply to ``RestartMedia``.
package struct MediaRestarted: Equatable, Sendable {
    /// As ``MediaResumed/keyUID``.
    package var keyUID: UInt32
    package var transport: MediaTransportAnswer

    package init(keyUID: UInt32, transport: MediaTransportAnswer) {
        self.keyUID = keyUID
        self.transport = transport
    }
}

/// Lets a participant go on: the gateway has checked a new key of it. Only the gateway that it is bound to may ask.
package struct RenewMedia: ServiceCommand {
    package static let service = ServiceName.media
    package static let operation = "media.renew"
    package typealias Reply = Done
    /// The node.
    package var to: MediaNodeID
    package var channel: MediaChannelKey
    package var participant: ParticipantID
    /// When the service that the key is for ends, in Unix seconds; 0 for never.
    package var expiry: Int64

    package var subject: Subject { .mediaNode(to) }
    package var node: MediaNodeID? { to }

    package init(to: MediaNodeID, channel: MediaChannelKey, participant: ParticipantID, expiry: Int64) {
        self.to = to
        self.channel = channel
        self.participant = participant
        self.expiry = expiry
    }
}
