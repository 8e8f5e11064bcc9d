import BusProtocol
import InvitationLogic
import SignalingProtocol

/// Scripts of calls between Alice and a telephone.
extension CallScript {
    static let phone = "+49301234"

    // MARK: Where scripts begin

    /// Alice has invited the telephone.
    static func dialled(extra: String = "") throws -> CallScript {
        var script = try CallScript()
        _ = try script.dial(extra: extra)
        return script
    }

    /// Bridge b1 has taken the call to the telephone.
    static func claimed() throws -> CallScript {
        var script = try dialled()
        _ = script.report(.claimed)
        return script
    }

    static func phoneRinging() throws -> CallScript {
        var script = try claimed()
        _ = script.report(.ringing)
        return script
    }

    static func phoneAccepted() throws -> CallScript {
        var script = try phoneRinging()
        _ = script.report(.accepted)
        return script
    }

    /// A telephone has called Alice through bridge b1.
    static func inbound() throws -> CallScript {
        var script = try CallScript()
        _ = try script.inviteFromPhone()
        _ = script.queued()
        return script
    }

    static func inboundRinging() throws -> CallScript {
        var script = try inbound()
        _ = try script.acknowledge(by: script.alice)
        return script
    }

    static func inboundAccepted() throws -> CallScript {
        var script = try inboundRinging()
        _ = try script.accept(by: script.alice)
        return script
    }

    // MARK: Events

    mutating func dial(
        _ call: String = "c1", peer: String = CallScript.phone, extra: String = "", ring: Int64? = 30_000
    ) throws -> [String] {
        let request = try InvitationRequest(
            call: CallID(call), caller: alice, channel: channel, peer: peer, extra: extra)
        return try lines { try $0.dial(request, trunk: ring.map { TrunkTerms(ring: .milliseconds($0)) }, now: $1) }
    }

    mutating func inviteFromPhone(
        _ call: String = "c1", ring: Int64? = nil, online: Bool = true
    ) throws -> [String] {
        let leg = PhoneLeg(
            role: .caller, bridge: BridgeID("b1"), ring: ring.map { .milliseconds($0) },
            record: PhoneRecord(sipCallID: "sip-1"))
        return machine.invite(
            from: leg, in: phoneCall(call), extra: "{}", callee: CalleePresence(online: online, uid: online ? 11 : 0),
            now: time
        ).map(describe)
    }

    mutating func report(
        _ act: PhoneAct, of call: String = "c1", by bridge: String = "b1", extra: String = "x",
        record: PhoneRecord = PhoneRecord()
    ) -> [String] {
        let report = PhoneReport(
            call: phoneCall(call), bridge: BridgeID(bridge), act: act, extra: extra, record: record)
        return machine.phoneActed(report, now: time).map(describe)
    }

    private func phoneCall(_ id: String) -> PhoneCall {
        PhoneCall(
            id: id, channel: ChannelKey(app: alice.user.app, name: channel), user: alice.user.account, phone: telephone)
    }

    mutating func loseBridge(_ bridge: String = "b1", call: String = "c1") -> [String] {
        machine.bridgeLost(BridgeID(bridge), call: CallID(call), now: time).map(describe)
    }

    /// The answer to the bridge: whether the call still exists and is with this bridge.
    func continues(_ call: String = "c1", with bridge: String = "b1") -> Bool {
        machine.snapshot?.continues(CallID(call), with: BridgeID(bridge)) == true
    }
}
