/// The acts in a call; the raw value is the function's name and the type of the mailbox entry on the wire.
package enum CallVerb: String, Sendable, CaseIterable {
    /// The caller invites the callee.
    case invite = "voip_invite"
    /// The callee's client confirms that it has received the invitation.
    case acknowledge = "voip_invite_ack"
    /// The callee accepts.
    case accept = "voip_invite_accept"
    /// The callee refuses.
    case refuse = "voip_invite_refuse"
    /// Either party ends the call.
    case end = "voip_invite_bye"
    /// Either party sends a message, such as DTMF digits.
    case message = "voip_invite_msg"
}
