package import SignalingProtocol

/// An act in a call between two users: an invitation, its acknowledgement, acceptance or refusal, the end, or digits.
///
/// An app's server acts in the name of an account, with ``SessionID/server`` as the actor's session.
package struct CallAct: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.act"
    /// True for acts that end a call: they free memory.
    package var isVital: Bool { verb == .refuse || verb == .end }
    package typealias Reply = Done
    /// The act.
    package var verb: CallVerb
    /// The user and session that act.
    package var actor: Actor
    /// The channel that the call is about. An invitation does not join it.
    package var channel: ChannelName
    /// The other party: an account or a phone number.
    package var peer: String
    /// JSON text for the peer, passed on unchanged.
    package var extra: String
    /// The only call in which to act, by its id; nil for whichever there is between the two in the channel.
    package var call: String?

    package var subject: Subject { .user(actor.user) }

    package init(verb: CallVerb, actor: Actor, channel: ChannelName, peer: String, extra: String) {
        self.verb = verb
        self.actor = actor
        self.channel = channel
        self.peer = peer
        self.extra = extra
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            verb: try fields.field("verb", \.verb),
            actor: try fields.fields(of: \.actor),
            channel: try fields.field("channel", \.channel),
            peer: try fields.field("peer", \.peer),
            extra: try fields.field("extra", \.extra))
        call = try fields.optional("call", \.call)
    }
}

/// Asks for a call of a user that has not ended, by its id, for an app's server that acts in it. Fails with
/// `unknown_call` when the user has no such call. A callee has it once its client has confirmed the invitation.
package struct FindCall: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.find"
    package static let level: Int64 = 2
    package typealias Reply = FoundCall
    package var user: UserKey
    /// The call's id.
    package var call: String

    package var subject: Subject { .user(user) }

    package init(user: UserKey, call: String) {
        self.user = user
        self.call = call
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), call: try fields.field("call", \.call))
    }
}

/// A call as one of its parties names it.
package struct FoundCall: Equatable, Sendable, FieldRecord {
    /// The channel that the call is about.
    package var channel: ChannelName
    /// The other party: an account, or the name of a telephone.
    package var peer: Account

    package init(channel: ChannelName, peer: Account) {
        self.channel = channel
        self.peer = peer
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(channel: try fields.field("channel", \.channel), peer: try fields.field("peer", \.peer))
    }
}

/// Ends the calls of a session that has ended.
package struct EndSessionCalls: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.session-ended"
    package typealias Reply = Done
    package var user: UserKey
    package var session: SessionID

    package var subject: Subject { .user(user) }

    package init(user: UserKey, session: SessionID) {
        self.user = user
        self.session = session
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(user: try fields.fields(of: \.user), session: try fields.field("session", \.session))
    }
}
