package import BusProtocol
internal import ClusterState
package import SignalingProtocol

/// The facts about a call that are kept in every state.
package struct Call: Equatable, Sendable {
    /// The call's id, new for every invitation.
    package var id: CallID
    /// The channel that the call is about.
    package var channel: ChannelKey
    /// The party that invites, in the session that did: only it knows the call, so only it is informed.
    package var caller: CallParty
    /// The party that is invited; without a session before it has acknowledged or answered.
    package var callee: CallParty
    /// The invitation's version in the callee's mailbox; nil until it is queued.
    package var mail: Int64?
    /// The telephone's side of the call; nil for a call between users.
    package var phone: PhoneLeg?
    /// When the call was made.
    package var startedAt: RedisTime
    /// When the callee's client acknowledged the invitation.
    package var acknowledgedAt: RedisTime?
    /// When the callee accepted.
    package var acceptedAt: RedisTime?

    /// Creates a new call between users.
    package init(id: CallID, channel: ChannelKey, caller: CallParty, callee: CallParty, startedAt: RedisTime) {
        self.id = id
        self.channel = channel
        self.caller = caller
        self.callee = callee
        self.startedAt = startedAt
    }

    /// When an answered call with a telephone ends at the latest; nil for other calls.
    var hangUp: RedisTime? {
        guard let acceptedAt, let phone else { return nil }
        return acceptedAt + (phone.longest ?? CallDurations.longestPhoneCall)
    }

    /// The role of the user `party` in this call. Nil for other users, even if named like the call's telephone.
    package func role(of party: Account) -> CallRole? {
        if party == caller.account, phone?.role != .caller { return .caller }
        return party == callee.account && phone?.role != .callee ? .callee : nil
    }
}

/// A party of a call, a user or a telephone.
package struct CallParty: Equatable, Sendable {
    /// The user's account, or the name of the telephone.
    package var account: Account
    /// The user's numeric id; 0 while unknown, and for a telephone.
    package var uid: UInt32
    /// The user's session that knows the call; nil for a telephone, and for a caller in
    /// whose name an app's server invites.
    package var session: SessionID?

    package init(account: Account, uid: UInt32 = 0, session: SessionID? = nil) {
        self.account = account
        self.uid = uid
        self.session = session
    }

    /// The party that acts. One for which an app's server acts has no session: the server
    /// learns of the call from the log.
    package init(_ actor: Actor) {
        self.init(
            account: actor.user.account, uid: actor.uid, session: actor.session.isServer ? nil : actor.session)
    }
}

/// The two parties.
package enum CallRole: String, Sendable, CaseIterable {
    /// The party that invites.
    case caller
    /// The party that is invited.
    case callee
}
