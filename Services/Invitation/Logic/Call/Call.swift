package import SignalingProtocol

/// The facts about a call that are kept in every state.
package struct Call: Equatable, Sendable {
    /// The call's id, new for every invitation.
    package var id: CallID
    /// The channel that the call is about.
    package var channel: ChannelKey
    /// The account that invites.
    package var caller: Account
    /// The caller's numeric id.
    package var callerUID: UInt32
    /// The caller's session: only it knows the call, so only it is informed. Nil when the caller is a telephone.
    package var callerSession: SessionID?
    /// The account that is invited.
    package var callee: Account
    /// The callee's numeric id; 0 while unknown.
    package var calleeUID: UInt32
    /// The session in which the callee acknowledged or answered the call; nil before.
    package var calleeSession: SessionID?
    /// The invitation's version in the callee's mailbox; nil until it is queued.
    package var mail: Int64?
    /// The telephone's side of the call; nil for a call between users.
    package var phone: PhoneLeg?
    /// When the call was made, in ms of Redis' clock.
    package var startedAt: Int64
    /// When the callee's client acknowledged the invitation, in ms of Redis' clock.
    package var acknowledgedAt: Int64?
    /// When the callee accepted, in ms of Redis' clock.
    package var acceptedAt: Int64?

    /// Creates a new call.
    package init(
        id: CallID, channel: ChannelKey, caller: Account, callerUID: UInt32, callerSession: SessionID?, callee: Account,
        calleeUID: UInt32, phone: PhoneLeg? = nil, startedAt: Int64
    ) {
        self.id = id
        self.channel = channel
        self.caller = caller
        self.callerUID = callerUID
        self.callerSession = callerSession
        self.callee = callee
        self.calleeUID = calleeUID
        self.phone = phone
        self.startedAt = startedAt
    }

    /// When an answered call with a telephone ends at the latest, in ms of Redis' clock; nil for other calls.
    var hangUp: Int64? {
        guard let acceptedAt, let phone else { return nil }
        return acceptedAt + (phone.longest ?? CallDurations.longestPhoneCall)
    }

    /// The role of the user `party` in this call. Nil for other users, even if named like the call's telephone.
    package func role(of party: Account) -> CallRole? {
        if party == caller, phone?.role != .caller { return .caller }
        return party == callee && phone?.role != .callee ? .callee : nil
    }
}

/// The two parties.
package enum CallRole: String, Sendable, CaseIterable {
    /// The party that invites.
    case caller
    /// The party that is invited.
    case callee
}
