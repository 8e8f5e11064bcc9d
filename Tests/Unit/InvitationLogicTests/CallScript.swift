import BusProtocol
import ClusterState
import InvitationLogic
import SignalingProtocol
import Testing

/// Feeds events into a call's state machine and describes its actions as short lines. Alice calls Bob; the test moves
/// the clock.
struct CallScript {
    var machine = CallStateMachine()
    /// Milliseconds of Redis' clock.
    var now: Int64 = 1_000_000
    var time: RedisTime { RedisTime(milliseconds: now) }
    let alice: Actor
    let bob: Actor
    /// The account that represents the telephone.
    let telephone: Account
    let channel: ChannelName

    init() throws {
        let app = try AppID("app")
        alice = Actor(
            user: UserKey(app: app, account: try Account("alice")), uid: 11, session: SessionID("alice-session"))
        telephone = try Account(Self.phone)
        bob = Actor(user: UserKey(app: app, account: try Account("bob")), uid: 22, session: SessionID("bob-session"))
        channel = try ChannelName("room")
    }

    // MARK: Where scripts begin

    static func none() throws -> CallScript { try CallScript() }

    static func waiting(online: Bool = true) throws -> CallScript {
        var script = try CallScript()
        _ = try script.invite(online: online)
        _ = script.queued()
        return script
    }

    static func ringing() throws -> CallScript {
        var script = try waiting()
        _ = try script.acknowledge()
        return script
    }

    static func accepted() throws -> CallScript {
        var script = try ringing()
        _ = try script.accept()
        return script
    }

    static func ended() throws -> CallScript {
        var script = try ringing()
        _ = try script.refuse()
        return script
    }

    // MARK: Events

    mutating func invite(
        _ call: String = "c1", by caller: Actor? = nil, peer: String = "bob", extra: String = "", online: Bool = true
    ) throws -> [String] {
        let request = try InvitationRequest(
            call: CallID(call), caller: caller ?? alice, channel: channel, peer: peer, extra: extra)
        return try lines {
            try $0.invite(request, callee: CalleePresence(online: online, uid: online ? 22 : 0), now: $1)
        }
    }

    mutating func queued(_ call: String = "c1", version: Int64 = 7) -> [String] {
        let actions = machine.invitationQueued(call: CallID(call), version: version)
        return actions.map(describe)
    }

    mutating func undeliverable(_ call: String = "c1") -> [String] {
        machine.invitationUndeliverable(call: CallID(call), now: time).map(describe)
    }

    mutating func acknowledge(by actor: Actor? = nil, extra: String = "") throws -> [String] {
        let actor = actor ?? bob
        return try lines { try $0.acknowledge(by: actor, extra: extra, now: $1) }
    }

    mutating func accept(by actor: Actor? = nil, extra: String = "yes") throws -> [String] {
        let actor = actor ?? bob
        return try lines { try $0.accept(by: actor, extra: extra, now: $1) }
    }

    mutating func refuse(by actor: Actor? = nil, extra: String = "no") throws -> [String] {
        let actor = actor ?? bob
        return try lines { try $0.refuse(by: actor, extra: extra, now: $1) }
    }

    mutating func end(by actor: Actor, extra: String = "bye") throws -> [String] {
        try lines { try $0.end(by: actor, extra: extra, now: $1) }
    }

    mutating func message(by actor: Actor, extra: String = "hi") throws -> [String] {
        try lines { try $0.message(by: actor, extra: extra, now: $1) }
    }

    mutating func fire(_ kind: CallTimer.Kind, of call: String = "c1", online: Bool = false) -> [String] {
        machine.timerFired(CallTimer(kind, of: CallID(call)), now: time, calleeOnline: online).map(describe)
    }

    mutating func lose(_ actor: Actor, session: String? = nil) -> [String] {
        let session = session.map(SessionID.init) ?? actor.session
        return machine.sessionEnded(of: actor.user.account, session: session, now: time).map(describe)
    }

    func anew(_ actor: Actor) -> Actor {
        var actor = actor
        actor.session = SessionID("\(actor.session)-2")
        return actor
    }

    // MARK: State

    var phase: String {
        switch machine.snapshot?.phase {
        case nil: "none"
        case .waiting(let deadline, _): "waiting until \(deadline)"
        case .ringing(let deadline): "ringing until \(deadline)"
        case .accepted: "accepted"
        case .ended(_, let end, _): "ended: \(end.rawValue)"
        }
    }

    mutating func lines(
        _ event: (inout CallStateMachine, RedisTime) throws -> [CallAction]
    ) throws -> [String] {
        let before = machine
        do {
            return try event(&machine, time).map(describe)
        } catch {
            #expect(machine == before, "a refused act changes nothing")
            throw error
        }
    }
}

/// One line per action, with all its values.
func describe(_ action: CallAction) -> String {
    switch action {
    case .deliverInvitation(let it): "invite \(describe(it))"
    case .deliver(let it): "tell \(describe(it))"
    case .withdrawInvitation(let callee, let version): "withdraw \(version) of \(callee)"
    case .schedule(let timer, let time): "schedule \(timer.kind.rawValue) of \(timer.call) at \(time)"
    case .cancel(let timer, let time): "cancel \(timer.kind.rawValue) of \(timer.call) at \(time)"
    case .remember(let call, let account): "remember \(call) of \(account)"
    case .forget(let call, let account): "forget \(call) of \(account)"
    case .dial(let call, let extra, let until):
        "dial \(call.phone) for \(call.user) in \(call.id) [\(extra)] until \(until)"
    case .order(let it): "order \(it.bridge) \(it.act.rawValue) in \(it.call.id) [\(it.extra)]"
    case .hold(let call, let bridge): "hold \(call) of \(bridge)"
    case .release(let call, let bridge): "release \(call) of \(bridge)"
    case .keepLine(let call, let account, let until): "keep line of \(account) for \(call) until \(until)"
    case .freeLine(let call, let account): "free line of \(account) for \(call)"
    case .log(let entry): "log \(entry.call.id) \(describe(entry))"
    }
}

private func describe(_ entry: CallLogEntry) -> String {
    if let end = entry.end { return "ended \(end.rawValue) \(end.code.rawValue)" }
    if entry.call.acceptedAt != nil { return "accepted" }
    return entry.call.acknowledgedAt == nil ? "started" : "acknowledged"
}

private func describe(_ it: CallDelivery) -> String {
    let audience =
        switch it.audience {
        case .anyone: "anyone"
        case .session(let session): "\(session)"
        case .invited(let version): "invited by \(version)"
        }
    let withdraws = it.withdrawsWhenMissed ? " or withdraw" : ""
    let event = it.event
    return "\(it.receiver) \(event.type.rawValue) \(event.call) from \(event.peer)/\(event.peerUID) [\(event.extra)]"
        + " to \(audience) for \(Int64(it.timeToLive / .milliseconds(1)))\(withdraws)"
}
