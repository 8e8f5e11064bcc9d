package import SignalingProtocol

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

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            to: try fields.field("node", \.to),
            channel: try fields.fields(of: \.channel),
            participant: try fields.field("pid", \.participant),
            uid: try fields.field("uid", \.uid),
            call: try fields.field("call", \.call),
            flags: try fields.field("flags", \.flags),
            expiry: try fields.field("expiry", \.expiry),
            info: try fields.field("info", \.info),
            transport: try fields.fields(of: \.transport))
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

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            from: try fields.field("node", \.from),
            channel: try fields.fields(of: \.channel),
            participant: try fields.field("pid", \.participant))
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

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            to: try fields.field("node", \.to),
            channel: try fields.fields(of: \.channel),
            participant: try fields.field("pid", \.participant),
            change: try fields.fields(of: \.change))
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

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            to: try fields.field("node", \.to),
            channel: try fields.fields(of: \.channel),
            participant: try fields.field("pid", \.participant),
            secret: try fields.field("secret", \.secret))
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

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            to: try fields.field("node", \.to),
            channel: try fields.fields(of: \.channel),
            participant: try fields.field("pid", \.participant),
            secret: try fields.field("secret", \.secret),
            transport: try fields.fields(of: \.transport))
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

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            to: try fields.field("node", \.to),
            channel: try fields.fields(of: \.channel),
            participant: try fields.field("pid", \.participant),
            expiry: try fields.field("expiry", \.expiry))
    }
}
