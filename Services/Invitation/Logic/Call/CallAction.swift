package import SignalingProtocol

/// What the driver does after the state is committed, in order; each is idempotent.
package enum CallAction: Equatable, Sendable {
    /// Queue the invitation for the callee, then report the entry's version with
    /// ``CallStateMachine/invitationQueued(call:version:)``.
    case deliverInvitation(CallDelivery)
    /// Queue an event for a party.
    case deliver(CallDelivery)
    /// Remove the invitation from the callee's mailbox, if it still waits there.
    case withdrawInvitation(callee: Account, version: Int64)
    /// Have ``CallStateMachine/timerFired(_:now:calleeOnline:)`` called at a time (ms of the Redis clock).
    case schedule(CallTimer, at: Int64)
    /// Forget a timer that was scheduled for that time.
    case cancel(CallTimer, at: Int64)
    /// Note the call among a user's calls, so that the end of their session finds it.
    case remember(CallID, Account)
    /// Take the call from a user's calls.
    case forget(CallID, Account)
    /// Ask the sip-bridges to call a telephone, with the caller's `extra`, until a time (ms of the Redis clock).
    case dial(PhoneCall, extra: String, until: Int64)
    /// Tell the sip-bridge that holds the telephone.
    case order(PhoneOrder)
    /// Note the call among a sip-bridge's, so that the bridge's loss ends it.
    case hold(CallID, BridgeID)
    /// Take the call from a sip-bridge's.
    case release(CallID, BridgeID)
    /// Keep the caller's line to the telephones until a time (ms of the Redis clock).
    case keepLine(CallID, Account, until: Int64)
    /// Give the caller's line to the telephones back.
    case freeLine(CallID, Account)
    /// Write the call log.
    case log(CallLogEntry)
}

/// One mailbox entry about a call.
package struct CallDelivery: Equatable, Sendable {
    /// The call.
    package var call: CallID
    /// What happened.
    package var type: CallEventType
    /// Whose mailbox.
    package var receiver: Account
    /// The other party, as the receiver sees it.
    package var peer: Account
    /// The other party's number; 0 when unknown.
    package var peerUID: UInt32
    /// Passed on verbatim, or the system's own JSON text.
    package var extra: String
    /// Which session may see it.
    package var audience: CallAudience
    /// How long it may wait, ms.
    package var timeToLive: Int64
    /// Nobody may see the event: then the invitation, which is still undelivered, is withdrawn instead.
    package var withdrawsWhenMissed: Bool

    /// Makes a delivery.
    package init(
        call: CallID, type: CallEventType, receiver: Account, peer: Account, peerUID: UInt32, extra: String,
        audience: CallAudience, timeToLive: Int64, withdrawsWhenMissed: Bool = false
    ) {
        self.call = call
        self.type = type
        self.receiver = receiver
        self.peer = peer
        self.peerUID = peerUID
        self.extra = extra
        self.audience = audience
        self.timeToLive = timeToLive
        self.withdrawsWhenMissed = withdrawsWhenMissed
    }
}

/// The types of mailbox entries about calls, as they stand on the wire.
package enum CallEventType: String, Sendable, CaseIterable {
    /// The callee is invited.
    case invitation = "voip_invite"
    /// The callee's client has the invitation.
    case acknowledged = "voip_invite_ack"
    /// The callee accepted.
    case accepted = "voip_invite_accept"
    /// The callee refused.
    case refused = "voip_invite_refuse"
    /// The other party, or the system, ended the call.
    case ended = "voip_invite_bye"
    /// A message of the other party.
    case message = "voip_invite_msg"
    /// The system tells the caller that nothing came of the invitation.
    case failed = "voip_invite_failed"
}

/// Which session may see an event. A client that is told of a call it does not know breaks, so others never are.
package enum CallAudience: Equatable, Sendable {
    /// Any session, also a later one: only for invitations.
    case anyone
    /// That session of the receiver.
    case session(SessionID)
    /// A session that was shown, or will be shown first, the mailbox entry of that version: the invitation.
    case invited(Int64)
}

/// A deadline of a call.
package struct CallTimer: Hashable, Sendable {
    /// What it limits.
    package enum Kind: String, Sendable, CaseIterable {
        /// The wait for the callee's acknowledgement.
        case acknowledgement
        /// The ringing.
        case ring
        /// The call with a telephone, from its answer on.
        case longest
    }
    /// The call.
    package var call: CallID
    /// What it limits.
    package var kind: Kind

    /// Names a timer.
    package init(_ kind: Kind, of call: CallID) {
        self.call = call
        self.kind = kind
    }

    /// The id under which its effect happens once, however often it fires.
    package var command: CommandID { CommandID("\(call.rawValue).\(kind.rawValue)") }
}

/// What the call log holds of a call; each entry tells all that is known by then.
package struct CallLogEntry: Equatable, Sendable {
    /// The call.
    package var call: Call
    /// When it ended, ms of the Redis clock; nil while it lives.
    package var endedAt: Int64?
    /// How it ended; nil while it lives.
    package var end: CallEnd?

    /// Makes an entry.
    package init(call: Call, endedAt: Int64? = nil, end: CallEnd? = nil) {
        self.call = call
        self.endedAt = endedAt
        self.end = end
    }
}
