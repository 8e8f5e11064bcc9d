package import BusProtocol
package import SignalingProtocol

/// What the driver does, in order, after the new state is committed. Each action is idempotent.
package enum CallAction: Equatable, Sendable {
    /// Add the invitation to the callee's mailbox, then report its version with
    /// ``CallStateMachine/invitationQueued(call:version:)``.
    case deliverInvitation(CallDelivery)
    /// Add an event to a party's mailbox.
    case deliver(CallDelivery)
    /// Remove the invitation from the callee's mailbox, if it still waits there.
    case withdrawInvitation(callee: Account, version: Int64)
    /// Call ``CallStateMachine/timerFired(_:now:calleeOnline:)`` at a time.
    case schedule(CallTimer, at: RedisTime)
    /// Cancel a timer that was scheduled for that time.
    case cancel(CallTimer, at: RedisTime)
    /// Add the call to the list of a user's calls, so that the end of the user's session finds it.
    case remember(CallID, Account)
    /// Remove the call from the list of a user's calls.
    case forget(CallID, Account)
    /// Ask the sip-bridges to call a telephone, with the caller's `extra`; expires at a time.
    case dial(PhoneCall, extra: String, until: RedisTime)
    /// Send an order to the sip-bridge that holds the telephone.
    case order(PhoneOrder)
    /// Add the call to the list of a sip-bridge's calls, so that it ends when the bridge is lost.
    case hold(CallID, BridgeID)
    /// Remove the call from the list of a sip-bridge's calls.
    case release(CallID, BridgeID)
    /// Reserve the caller's line to telephones until a time.
    case keepLine(CallID, Account, until: RedisTime)
    /// Release the caller's line to telephones.
    case freeLine(CallID, Account)
    /// Write to the call log.
    case log(CallLogEntry)
}

/// What a party is told about a call.
package struct CallEvent: Equatable, Sendable {
    /// The call's id.
    package var call: CallID
    /// What happened.
    package var type: CallEventType
    /// The other party, as the receiver sees it.
    package var peer: Account
    /// The other party's numeric id; 0 when unknown.
    package var peerUID: UInt32
    /// Text passed on unchanged, or JSON text from the system.
    package var extra: String

    /// Creates an event.
    package init(_ type: CallEventType, of call: CallID, peer: Account, peerUID: UInt32, extra: String) {
        self.call = call
        self.type = type
        self.peer = peer
        self.peerUID = peerUID
        self.extra = extra
    }

    init(_ type: CallEventType, of call: CallID, from peer: CallParty, _ extra: String) {
        self.init(type, of: call, peer: peer.account, peerUID: peer.uid, extra: extra)
    }
}

/// A mailbox entry about a call.
package struct CallDelivery: Equatable, Sendable {
    /// What the receiver is told.
    package var event: CallEvent
    /// The user whose mailbox gets the entry.
    package var receiver: Account
    /// Which session may receive the entry.
    package var audience: CallAudience
    /// How long the entry may wait in the mailbox.
    package var timeToLive: Duration
    /// Whether the invitation, which is still undelivered, is withdrawn instead if no session may receive the entry.
    package var withdrawsWhenMissed: Bool

    /// Creates a delivery.
    package init(
        _ event: CallEvent, to receiver: Account, audience: CallAudience, timeToLive: Duration,
        withdrawsWhenMissed: Bool = false
    ) {
        self.event = event
        self.receiver = receiver
        self.audience = audience
        self.timeToLive = timeToLive
        self.withdrawsWhenMissed = withdrawsWhenMissed
    }
}

/// The types of mailbox entries about calls, as sent to clients.
package enum CallEventType: String, Sendable, CaseIterable {
    /// The callee is invited.
    case invitation = "voip_invite"
    /// The callee's client has received the invitation.
    case acknowledged = "voip_invite_ack"
    /// The callee accepted.
    case accepted = "voip_invite_accept"
    /// The callee refused.
    case refused = "voip_invite_refuse"
    /// The other party, or the system, ended the call.
    case ended = "voip_invite_bye"
    /// A message from the other party.
    case message = "voip_invite_msg"
    /// The invitation has failed; sent to the caller by the system.
    case failed = "voip_invite_failed"
}

/// Which sessions may receive an event. Clients fail on events of calls that they do not know, so they must never get
/// one.
package enum CallAudience: Equatable, Sendable {
    /// Any session, including later ones; only for invitations.
    case anyone
    /// This session of the receiver.
    case session(SessionID)
    /// Any session that received, or will receive before this event, the entry with this version: the invitation.
    case invited(Int64)
}

/// A timer of a call.
package struct CallTimer: Hashable, Sendable {
    /// The wait that a timer limits.
    package enum Kind: String, Sendable, CaseIterable {
        /// The time until the callee's acknowledgement.
        case acknowledgement
        /// The time of ringing.
        case ring
        /// The duration of a call with a telephone, from its answer.
        case longest
    }
    /// The call's id.
    package var call: CallID
    /// The wait that the timer limits.
    package var kind: Kind

    /// Creates the timer of a kind.
    package init(_ kind: Kind, of call: CallID) {
        self.call = call
        self.kind = kind
    }

    /// The command id under which the timer's effect happens once, even if it fires repeatedly.
    package var command: CommandID { CommandID("\(call.rawValue).\(kind.rawValue)") }
}

/// A record for the call log: everything that is known about the call at the time.
package struct CallLogEntry: Equatable, Sendable {
    /// The call.
    package var call: Call
    /// When the call ended; nil before.
    package var endedAt: RedisTime?
    /// How the call ended; nil before.
    package var end: CallEnd?
    /// The request of the server API that has caused the change, for webhooks; nil for none. Nothing is decided by it:
    /// the driver sets it.
    package var request: EventRequest?

    /// Creates an entry.
    package init(call: Call, endedAt: RedisTime? = nil, end: CallEnd? = nil) {
        self.call = call
        self.endedAt = endedAt
        self.end = end
    }
}
