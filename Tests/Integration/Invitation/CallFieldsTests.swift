import BusProtocol
import ClusterState
import InvitationLogic
import SignalingProtocol
import TestKit
import Testing

@testable import InvitationServer

/// Fixes the encoded bytes of calls and of their kept actions, because other releases must be able to read them.
@Suite struct CallFieldsTests {
    private let alice: Account
    private let bob: Account
    private let call: Call
    private static let callBytes =
        "2:id1:c3:app1:a7:channel4:room6:caller5:alice9:callerUID2:1113:callerSession2:s16:callee3:bob9:calleeUID1:07:started4:1000"

    init() throws {
        alice = try Account("alice")
        bob = try Account("bob")
        call = Call(
            id: CallID("c"), channel: ChannelKey(app: try AppID("a"), name: try ChannelName("room")),
            caller: CallParty(account: alice, uid: 11, session: SessionID("s1")), callee: CallParty(account: bob),
            startedAt: RedisTime(milliseconds: 1000))
    }

    private func expect(_ snapshot: CallSnapshot, _ bytes: String) throws {
        var writer = FieldWriter()
        snapshot.write(to: &writer)
        #expect(String(decoding: writer.encoded, as: UTF8.self) == bytes)
        #expect(try CallSnapshot(from: FieldReader(encoded: bytes.utf8)) == snapshot)
        // As a newer release may write it into the call's hash.
        #expect(try CallSnapshot(from: FieldReader(encoded: ("3:new1:x" + bytes + "5:newer1:y").utf8)) == snapshot)
    }

    @Test func phases() throws {
        let time = RedisTime(milliseconds: 2000)
        try expect(
            CallSnapshot(call: call, phase: .waiting(deadline: time, calleeWasOnline: true)),
            "5:phase7:waiting8:deadline4:20006:online1:1" + Self.callBytes)
        try expect(
            CallSnapshot(call: call, phase: .ringing(deadline: time)),
            "5:phase7:ringing8:deadline4:2000" + Self.callBytes)
        try expect(CallSnapshot(call: call, phase: .accepted), "5:phase8:accepted" + Self.callBytes)
        try expect(
            CallSnapshot(call: call, phase: .ended(at: time, end: .calleeGone, owesCalleeEnd: false)),
            "5:phase5:ended5:ended4:20003:end11:callee_gone4:owes1:0" + Self.callBytes)
    }

    @Test func whatIsKnownLater() throws {
        var call = call
        call.callee = CallParty(account: bob, uid: 22, session: SessionID("s2"))
        call.mail = 7
        call.phone = PhoneLeg(
            role: .callee, bridge: BridgeID("b"), ring: .seconds(30), longest: .milliseconds(1),
            record: PhoneRecord(sipCallID: "x", status: 200, reason: "OK"))
        call.acknowledgedAt = RedisTime(milliseconds: 1001)
        call.acceptedAt = RedisTime(milliseconds: 1002)
        try expect(
            CallSnapshot(call: call, phase: .accepted),
            "5:phase8:accepted2:id1:c3:app1:a7:channel4:room6:caller5:alice9:callerUID2:1113:callerSession2:s1"
                + "6:callee3:bob9:calleeUID2:2213:calleeSession2:s27:started4:10004:mail1:7"
                + "9:phoneRole6:callee6:bridge1:b9:phoneRing5:3000012:phoneLongest1:1"
                + "11:sip_call_id1:x10:sip_status3:20010:sip_reason2:OK"
                + "12:acknowledged4:10018:accepted4:1002")
    }

    private let time = RedisTime(milliseconds: 2000)

    /// An action, the name under which it is kept, and its fields.
    private typealias Kept = (action: CallAction, name: String, fields: String)

    private func expect(_ kept: [Kept]) throws {
        var all = FieldWriter()
        for (action, name, fields) in kept {
            var expected = FieldWriter()
            expected.put(name, Array(fields.utf8))
            #expect(
                String(decoding: CallAction.encode([action]), as: UTF8.self)
                    == String(decoding: expected.encoded, as: UTF8.self))
            all.append(expected)
        }
        #expect(try CallAction.decode(all.encoded) == kept.map(\.action))
    }

    @Test func deliveries() throws {
        let event = CallEvent(.accepted, of: call.id, peer: bob, peerUID: 22, extra: "x")
        func delivery(_ audience: CallAudience, withdraws: Bool = false) -> CallDelivery {
            CallDelivery(
                event, to: alice, audience: audience, timeToLive: .seconds(20), withdrawsWhenMissed: withdraws)
        }
        let fields = "4:type18:voip_invite_accept4:call1:c4:peer3:bob3:uid2:225:extra1:x8:receiver5:alice"
        try expect([
            (.deliverInvitation(delivery(.anyone)), "invite", fields + "3:ttl5:200009:withdraws1:0"),
            (
                .deliver(delivery(.session(SessionID("s1")))), "deliver",
                fields + "7:session2:s13:ttl5:200009:withdraws1:0"
            ),
            (
                .deliver(delivery(.invited(7), withdraws: true)), "deliver",
                fields + "7:invited1:73:ttl5:200009:withdraws1:1"
            ),
            (.withdrawInvitation(callee: bob, version: 7), "withdraw", "6:callee3:bob7:version1:7"),
        ])
    }

    @Test func timersAndCallsOfAUser() throws {
        let id = call.id
        try expect([
            (.schedule(CallTimer(.ring, of: id), at: time), "schedule", "5:timer4:ring4:call1:c2:at4:2000"),
            (.cancel(CallTimer(.longest, of: id), at: time), "cancel", "5:timer7:longest4:call1:c2:at4:2000"),
            (.remember(id, alice), "remember", "4:call1:c7:account5:alice"),
            (.forget(id, alice), "forget", "4:call1:c7:account5:alice"),
        ])
    }

    @Test func telephones() throws {
        let id = call.id
        let phoneCall = PhoneCall(id: "c", channel: call.channel, user: alice, phone: try Account("+49"))
        let fields = "4:call1:c3:app1:a7:channel4:room4:user5:alice5:phone3:+49"
        try expect([
            (.dial(phoneCall, extra: "x", until: time), "dial", fields + "5:extra1:x5:until4:2000"),
            (
                .order(PhoneOrder(bridge: BridgeID("b"), call: phoneCall, act: .end, extra: "x")), "order",
                "6:bridge1:b" + fields + "3:act3:end5:extra1:x"
            ),
            (.hold(id, BridgeID("b")), "hold", "4:call1:c6:bridge1:b"),
            (.release(id, BridgeID("b")), "release", "4:call1:c6:bridge1:b"),
            (.keepLine(id, alice, until: time), "keep", "4:call1:c7:account5:alice5:until4:2000"),
            (.freeLine(id, alice), "free", "4:call1:c7:account5:alice"),
        ])
    }

    @Test func entriesOfTheLog() throws {
        try expect([
            (.log(CallLogEntry(call: call)), "log", Self.callBytes),
            (
                .log(CallLogEntry(call: call, endedAt: time, end: .lost)), "log",
                Self.callBytes + "5:ended4:20003:end4:lost"
            ),
        ])
    }

    @Test func entriesOfTheLogThatARequestHasCaused() throws {
        var entry = CallLogEntry(call: call, endedAt: time, end: .endedByCaller)
        entry.request = EventRequest(CommandCause(key: "k", request: "r-1", trace: "t"))
        try expect([
            (.log(entry), "log", Self.callBytes + "5:ended4:20003:end15:ended_by_caller7:request3:r-15:trace1:t")
        ])
        #expect(entry.webhookEvent.json.hasSuffix(#","requestId":"r-1","traceId":"t"}"#))
    }

    @Test func anUnknownActionIsRefused() {
        #expect(throws: SignalingError.self) { try CallAction.decode(Array("3:new0:".utf8)) }
    }

    /// A newer release may know more ends; the call must not be missing in the log.
    @Test func anUnknownEndDoesNotKeepACallFromTheLog() throws {
        let entry = try CallLogEntry(from: FieldReader(encoded: (Self.callBytes + "5:ended1:93:end3:new").utf8))
        #expect(entry == CallLogEntry(call: call, endedAt: RedisTime(milliseconds: 9)))
    }
}
