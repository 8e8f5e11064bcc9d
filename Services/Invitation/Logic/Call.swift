public import SignalingProtocol

/// The facts about one call that every state keeps.
public struct Call: Equatable, Sendable {
    /// Fresh for every invitation.
    public var id: CallID
    /// What the call is about.
    public var channel: ChannelKey
    /// Who invited.
    public var caller: Account
    /// The caller's number.
    public var callerUID: UInt32
    /// The caller's session: only it knows the call, so only it is told.
    public var callerSession: SessionID
    /// Who is invited.
    public var callee: Account
    /// The callee's number; 0 while unknown.
    public var calleeUID: UInt32
    /// The session in which the callee answered for the call; nil before the acknowledgement.
    public var calleeSession: SessionID?
    /// The invitation's version in the callee's mailbox; nil until it is queued.
    public var mail: Int64?
    /// When it was made, ms of the Redis clock.
    public var startedAt: Int64
    /// When the callee's client had it, ms of the Redis clock.
    public var acknowledgedAt: Int64?
    /// When the callee accepted, ms of the Redis clock.
    public var acceptedAt: Int64?

    /// A call that begins.
    public init(
        id: CallID, channel: ChannelKey, caller: Account, callerUID: UInt32, callerSession: SessionID, callee: Account,
        calleeUID: UInt32, startedAt: Int64
    ) {
        self.id = id
        self.channel = channel
        self.caller = caller
        self.callerUID = callerUID
        self.callerSession = callerSession
        self.callee = callee
        self.calleeUID = calleeUID
        self.startedAt = startedAt
    }

    /// What `party` is in this call; nil for a stranger.
    public func role(of party: Account) -> CallRole? {
        if party == caller { return .caller }
        return party == callee ? .callee : nil
    }
}

/// The two parties.
public enum CallRole: String, Sendable, CaseIterable {
    /// Who invited.
    case caller
    /// Who is invited.
    case callee
}

/// How a call came to its end.
public enum CallEnd: String, Sendable, CaseIterable {
    /// The callee refused.
    case refused
    /// The caller ended it.
    case endedByCaller = "ended_by_caller"
    /// The callee ended it.
    case endedByCallee = "ended_by_callee"
    /// The callee's mailbox is full.
    case undeliverable
    /// The callee was offline all the time.
    case calleeOffline = "callee_offline"
    /// The callee was online, but its client did not acknowledge in time.
    case notAcknowledged = "not_acknowledged"
    /// It rang up to the limit.
    case notAnswered = "not_answered"
    /// The caller's session ended.
    case callerGone = "caller_gone"
    /// The callee's session ended.
    case calleeGone = "callee_gone"

    /// The public code of such an end.
    public var code: SignalingCode {
        switch self {
        case .endedByCaller, .endedByCallee: .success
        case .refused, .undeliverable: .inviteOther
        case .calleeOffline, .callerGone, .calleeGone: .invitePeerOffline
        case .notAcknowledged, .notAnswered: .inviteTimeout
        }
    }

    /// The `extra` of an event that the system itself sends about such an end: JSON text.
    public var extra: String {
        let reason =
            switch self {
            case .endedByCaller, .endedByCallee: "ended"
            case .refused: "refused"
            case .undeliverable: "undeliverable"
            case .calleeOffline, .callerGone, .calleeGone: "peer_offline"
            case .notAcknowledged, .notAnswered: "timeout"
            }
        return "{\"code\":\(code.rawValue),\"reason\":\"\(reason)\"}"
    }
}
