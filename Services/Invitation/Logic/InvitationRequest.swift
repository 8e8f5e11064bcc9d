package import SignalingProtocol

/// An act of inviting, checked.
package struct InvitationRequest: Equatable, Sendable {
    /// The fresh call's id.
    package var call: CallID
    /// Who invites.
    package var caller: Actor
    /// What the call is about.
    package var channel: ChannelName
    /// Who is invited, and by which way.
    package var route: CallRoute
    /// Passed on to the callee.
    package var extra: String
    /// What the system reads in it.
    package var options: InvitationOptions

    /// Checks a client's invitation.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter`` for a peer that is no account or the caller;
    ///   ``SignalingCode/largeParameter`` for too large an `extra`.
    package init(
        call: CallID, caller: Actor, channel: ChannelName, peer: String, extra: String
    ) throws(SignalingError) {
        try CallMessage.checkSize(extra)
        options = InvitationOptions(extra: extra)
        route = try CallRoute(callee: peer, showsNumber: options.showsNumber)
        guard route.account != caller.user.account else {
            throw SignalingError(.wrongParameter, .selfInvite, "the peer is the caller")
        }
        self.call = call
        self.caller = caller
        self.channel = channel
        self.extra = extra
    }
}

/// What presence knows of the callee at the moment of an invitation.
package struct CalleePresence: Equatable, Sendable {
    /// Whether a session of theirs exists, connected or detached.
    package var online: Bool
    /// Their number; 0 when they never logged in.
    package var uid: UInt32

    /// Joins the two.
    package init(online: Bool, uid: UInt32) {
        self.online = online
        self.uid = uid
    }
}

/// The durations of calls, ms.
package struct CallDurations: Equatable, Sendable {
    /// The wait for the acknowledgement of an invitation with `_timeout` 0 whose callee is online. Default 2 s.
    package var immediate: Int64 = 2_000
    /// The wait for a telephone's first ringing: SIP gives up after 32 s, and tells so. Default 40 s.
    package var dial: Int64 = 40_000
    /// How long an acknowledged invitation rings. Default 60 s.
    package var ring: Int64 = 60_000
    /// How long an answered call with a telephone lasts at most, unless its trunk says otherwise.
    static let longestPhoneCall = Int64(Limits.longestPhoneCall) * 1000
    /// How much longer than its call a line is held if nothing gives it back: covers the time that a timer may be late.
    package static let lineGrace: Int64 = 60_000
    /// How long an event waits for a party whose connection is away: as long as a session outlives its connection.
    static let event = Int64(Limits.connectionTimeout.upperBound) * 1000
    /// How much longer than its deadline an invitation stays in the mailbox if nothing removes it: covers the time
    /// that a timer may be late. Default 2 s.
    package var mailGrace: Int64 = 2_000
    /// How late after its deadline a call whose timer was lost counts as over when it stands in the way. Default 15 s.
    package var lostTimer: Int64 = 15_000

    /// The defaults.
    package init() {}
}
