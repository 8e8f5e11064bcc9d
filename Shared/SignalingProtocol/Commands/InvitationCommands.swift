/// An act in a call between two users: they invite, acknowledge, accept, refuse, end, or send each other digits.
package struct CallAct: ServiceCommand {
    /// invitation.
    package static let service = ServiceName.invitation
    /// `call.act`.
    package static let operation = "call.act"
    /// For what ends a call.
    package var isVital: Bool { verb == .refuse || verb == .end }
    /// Nothing.
    package typealias Reply = Done
    /// What the actor does.
    package var verb: CallVerb
    /// Who acts.
    package var actor: Actor
    /// The channel that the call is about; joining it is another act.
    package var channel: ChannelName
    /// The other party: an account, or a phone number.
    package var peer: String
    /// The actor's JSON text, passed on.
    package var extra: String

    /// Does `verb` to `peer`.
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

/// Tells that a user's session is over: the calls that it was in end.
package struct EndSessionCalls: ServiceCommand {
    /// invitation.
    package static let service = ServiceName.invitation
    /// `call.session-ended`.
    package static let operation = "call.session-ended"
    /// Nothing.
    package typealias Reply = Done
    /// Whose session.
    package var user: UserKey
    /// Which session.
    package var session: SessionID

    /// Ends the calls of `session`.
    package init(user: UserKey, session: SessionID) {
        self.user = user
        self.session = session
    }
}
