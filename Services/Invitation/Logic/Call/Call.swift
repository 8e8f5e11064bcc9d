package import SignalingProtocol

/// The facts about one call that every state keeps.
package struct Call: Equatable, Sendable {
    /// Fresh for every invitation.
    package var id: CallID
    /// What the call is about.
    package var channel: ChannelKey
    /// Who invited.
    package var caller: Account
    /// The caller's number.
    package var callerUID: UInt32
    /// The caller's session: only it knows the call, so only it is told. Nil when the caller is a telephone.
    package var callerSession: SessionID?
    /// Who is invited.
    package var callee: Account
    /// The callee's number; 0 while unknown.
    package var calleeUID: UInt32
    /// The session in which the callee answered for the call; nil before the acknowledgement.
    package var calleeSession: SessionID?
    /// The invitation's version in the callee's mailbox; nil until it is queued.
    package var mail: Int64?
    /// The telephone's side, if a party is one.
    package var phone: PhoneLeg?
    /// When it was made, ms of the Redis clock.
    package var startedAt: Int64
    /// When the callee's client had it, ms of the Redis clock.
    package var acknowledgedAt: Int64?
    /// When the callee accepted, ms of the Redis clock.
    package var acceptedAt: Int64?

    /// A call that begins.
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

    /// When an answered call with a telephone ends at the latest, ms of the Redis clock; nil for others.
    var hangUp: Int64? {
        guard let acceptedAt, let phone else { return nil }
        return acceptedAt + (phone.longest ?? CallDurations.longestPhoneCall)
    }

    /// What the user `party` is in this call; nil for a stranger, also for one whose name is like the telephone's.
    package func role(of party: Account) -> CallRole? {
        if party == caller, phone?.role != .caller { return .caller }
        return party == callee && phone?.role != .callee ? .callee : nil
    }
}

/// The two parties.
package enum CallRole: String, Sendable, CaseIterable {
    /// Who invited.
    case caller
    /// Who is invited.
    case callee
}
