package import BusProtocol
package import SignalingProtocol

/// A validated invitation.
package struct InvitationRequest: Equatable, Sendable {
    /// The new call's id.
    package var call: CallID
    /// The caller.
    package var caller: Actor
    /// The channel that the call is about.
    package var channel: ChannelName
    /// The callee, and whether it is a user or a telephone.
    package var route: CallRoute
    /// Text passed on to the callee.
    package var extra: String
    /// The options in `extra` that the system reads.
    package var options: InvitationOptions

    /// Validates a client's invitation.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter`` for an invalid peer, or the caller itself;
    ///   ``SignalingCode/largeParameter`` for too large an `extra`.
    package init(
        call: CallID, caller: Actor, channel: ChannelName, peer: String, extra: String
    ) throws(SignalingError) {
        try CallMessage.checkSize(extra)
        options = InvitationOptions(extra: extra)
        route = try CallRoute(callee: peer, showsNumber: options.showsNumber)
        guard route.account != caller.user.account else {
            throw SignalingError(.wrongParameter, .selfInvite, "the caller and the peer are the same user")
        }
        self.call = call
        self.caller = caller
        self.channel = channel
        self.extra = extra
    }
}

/// The state of the callee at the time of an invitation.
package struct CalleePresence: Equatable, Sendable {
    /// Whether the callee has a session, connected or detached.
    package var online: Bool
    /// The callee's numeric id; 0 if it never logged in.
    package var uid: UInt32

    /// Creates it from both facts.
    package init(online: Bool, uid: UInt32) {
        self.online = online
        self.uid = uid
    }
}

/// Durations of calls.
package struct CallDurations: Equatable, Sendable {
    /// The wait for the acknowledgement of an invitation with `_timeout` 0 whose callee is online. Default 2 s.
    package var immediate = Duration.seconds(2)
    /// The wait for a telephone's first ringing. Default 40 s; SIP itself reports a timeout after 32 s.
    package var dial = Duration.seconds(40)
    /// How long an acknowledged invitation rings. Default 60 s.
    package var ring = Duration.seconds(60)
    /// The longest duration of an answered call with a telephone, unless its trunk overrides it.
    static let longestPhoneCall = Duration.seconds(Limits.longestPhoneCall)
    /// How much longer than its call a line is reserved if nothing releases it: a margin for late timers.
    package static let lineGrace = Duration.seconds(60)
    /// How long an event waits for a party without a connection: as long as a session outlives its connection.
    static let event = Duration.seconds(Limits.connectionTimeout.upperBound)
    /// How much longer than its deadline an invitation stays in the mailbox if nothing removes it: a margin for late
    /// timers. Default 2 s.
    package var mailGrace = Duration.seconds(2)
    /// How long after its deadline a pending call is regarded as ended, if it would prevent a new call: its timer was
    /// lost. Default 15 s.
    package var lostTimer = Duration.seconds(15)

    /// The default durations.
    package init() {}
}
