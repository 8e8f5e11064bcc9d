package import BusProtocol
internal import ClusterBus
internal import ClusterState
package import InvitationLogic
internal import SignalingProtocol

// The fields of each action of a call. What several actions hold is one record.

/// An invitation that is withdrawn.
struct Withdrawal: FieldRecord {
    let callee: Account
    let version: Int64

    init(callee: Account, version: Int64) {
        self.callee = callee
        self.version = version
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(callee: try fields.field("callee", \.callee), version: try fields.field("version", \.version))
    }

    var action: CallAction { .withdrawInvitation(callee: callee, version: version) }
}

/// A timer and its time.
struct TimerFields: FieldRecord {
    let timer: CallTimer
    let time: RedisTime

    init(timer: CallTimer, time: RedisTime) {
        self.timer = timer
        self.time = time
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(timer: try fields.fields(of: \.timer), time: try fields.field("at", \.time))
    }

    func with(_ action: (CallTimer, RedisTime) -> CallAction) -> CallAction { action(timer, time) }
}

/// A call of a user.
struct UserCall: FieldRecord {
    let call: CallID
    let account: Account

    init(call: CallID, account: Account) {
        self.call = call
        self.account = account
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(call: try fields.field("call", \.call), account: try fields.field("account", \.account))
    }

    func with(_ action: (CallID, Account) -> CallAction) -> CallAction { action(call, account) }
}

/// A call that a sip-bridge holds.
struct BridgeCall: FieldRecord {
    let call: CallID
    let bridge: BridgeID

    init(call: CallID, bridge: BridgeID) {
        self.call = call
        self.bridge = bridge
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(call: try fields.field("call", \.call), bridge: try fields.field("bridge", \.bridge))
    }

    func with(_ action: (CallID, BridgeID) -> CallAction) -> CallAction { action(call, bridge) }
}

/// A telephone to be called until a time.
struct Dialling: FieldRecord {
    let command: DialPhone
    let until: RedisTime

    init(_ command: DialPhone, until: RedisTime) {
        self.command = command
        self.until = until
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.fields(of: \.command), until: try fields.field("until", \.until))
    }

    var action: CallAction { .dial(command.call, extra: command.extra, until: until) }
}

/// A caller's line to the telephones that is held until a time.
struct HeldLine: FieldRecord {
    let call: UserCall
    let until: RedisTime

    init(_ call: UserCall, until: RedisTime) {
        self.call = call
        self.until = until
    }

    init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.fields(of: \.call), until: try fields.field("until", \.until))
    }

    var action: CallAction { .keepLine(call.call, call.account, until: until) }
}

extension PhoneOrder: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            bridge: try fields.field("bridge", \.bridge),
            call: try fields.fields(of: \.call),
            act: try fields.field("act", \.act),
            extra: try fields.field("extra", \.extra))
    }
}

extension CallTimer: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.field("timer", \.kind), of: try fields.field("call", \.call))
    }
}

extension CallTimer.Kind: FieldValue {}

extension CallLogEntry: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            call: try fields.fields(of: \.call),
            endedAt: try fields.optional("ended", \.endedAt),
            // An end that only a newer release knows does not keep the call from the log.
            end: try fields.optional("end", \.endName).flatMap { CallEnd(rawValue: $0) })
        request = try fields.optionalFields(of: \.request, with: "request")
    }

    private var endName: String? { end?.rawValue }
}

extension CallDelivery: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            try fields.fields(of: \.event),
            to: try fields.field("receiver", \.receiver),
            audience: CallAudience(
                session: try fields.optional("session", \.audience.session),
                version: try fields.optional("invited", \.audience.version)),
            timeToLive: try fields.field("ttl", \.timeToLive),
            withdrawsWhenMissed: try fields.field("withdraws", \.withdrawsWhenMissed))
    }
}

extension CallEvent: FieldRecord {
    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            try fields.field("type", \.type),
            of: try fields.field("call", \.call),
            peer: try fields.field("peer", \.peer),
            peerUID: try fields.field("uid", \.peerUID),
            extra: try fields.field("extra", \.extra))
    }
}

extension CallEventType: FieldValue {}

extension CallAudience {
    fileprivate var session: SessionID? {
        switch self {
        case .session(let session): session
        case .anyone, .invited: nil
        }
    }

    fileprivate var version: Int64? {
        switch self {
        case .invited(let version): version
        case .anyone, .session: nil
        }
    }

    fileprivate init(session: SessionID?, version: Int64?) {
        if let session {
            self = .session(session)
        } else {
            self = version.map { .invited($0) } ?? .anyone
        }
    }
}
