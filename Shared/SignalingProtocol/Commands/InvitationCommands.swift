/// An act in a call between two users: they invite, acknowledge, accept, refuse, end, or send each other digits.
package struct CallAct: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.act"
    /// True for acts that end a call.
    package var isVital: Bool { verb == .refuse || verb == .end }
    package typealias Reply = Done
    /// What the actor does.
    package var verb: CallVerb
    /// Who acts.
    package var actor: Actor
    /// The channel that the call is about. Inviting does not join it.
    package var channel: ChannelName
    /// The other party: an account, or a phone number.
    package var peer: String
    /// A JSON text of the actor, passed on to the peer.
    package var extra: String

    package init(verb: CallVerb, actor: Actor, channel: ChannelName, peer: String, extra: String) {
        self.verb = verb
        self.actor = actor
        self.channel = channel
        self.peer = peer
        self.extra = extra
    }
}

/// What a party can do in a call; the raw value is the function's name and the mailbox entry's type on the wire.
package enum CallVerb: String, Sendable, CaseIterable {
    /// The caller invites.
    case invite = "voip_invite"
    /// The callee's client has the invitation.
    case acknowledge = "voip_invite_ack"
    /// The callee accepts.
    case accept = "voip_invite_accept"
    /// The callee refuses.
    case refuse = "voip_invite_refuse"
    /// Either ends the call.
    case end = "voip_invite_bye"
    /// Either sends a message, such as digits.
    case message = "voip_invite_msg"
}

/// Ends the calls of a session that is over.
package struct EndSessionCalls: ServiceCommand {
    package static let service = ServiceName.invitation
    package static let operation = "call.session-ended"
    package typealias Reply = Done
    package var user: UserKey
    package var session: SessionID

    package init(user: UserKey, session: SessionID) {
        self.user = user
        self.session = session
    }
}
