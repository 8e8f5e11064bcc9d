import BusProtocol
import ClusterState
import InvitationLogic
import SignalingProtocol
import Testing

/// Calls from a user to a telephone.
@Suite struct OutboundPhoneTests {
    @Test func diallingIsTimedRememberedAndLogged() throws {
        var script = try CallScript.none()
        #expect(
            try script.dial(extra: #"{"srcNum":"1"}"#) == [
                "schedule acknowledgement of c1 at 1040000",
                "remember c1 of alice",
                #"dial +49301234 for alice in c1 [{"srcNum":"1"}] until 1040000"#,
                "log c1 started",
            ])
        #expect(script.phase == "waiting until 1040000")
        #expect(!script.continues())
    }

    @Test(arguments: [
        ("", Int64(1_040_000)), (#"{"_timeout":5}"#, 1_005_000), (#"{"_timeout":0}"#, 1_040_000),
        (#"{"_require_peer_online":1}"#, 1_040_000),
    ])
    func onlyAStatedTimeoutShortensTheWait(extra: String, deadline: Int64) throws {
        let script = try CallScript.dialled(extra: extra)
        #expect(script.phase == "waiting until \(deadline)")
    }

    @Test func appWithoutATrunk() throws {
        var script = try CallScript.none()
        #expect(
            try script.dial(ring: nil) == [
                #"tell alice voip_invite_failed c1 from +49301234/0 [{"code":700,"reason":"no_trunk"}] to alice-session"#
                    + " for 120000",
                "log c1 ended no_trunk 700",
            ])
        #expect(script.phase == "ended: no_trunk")
    }

    @Test func ringsIsAnsweredAndHungUpByEither() throws {
        var script = try CallScript.dialled()
        #expect(script.report(.claimed) == ["hold c1 of b1"])
        #expect(script.continues())
        script.now += 1_000
        #expect(
            script.report(.ringing, extra: "r") == [
                "schedule ring of c1 at 1031000",
                "tell alice voip_invite_ack c1 from +49301234/0 [r] to alice-session for 120000",
                "cancel acknowledgement of c1 at 1040000",
                "log c1 acknowledged",
            ])
        #expect(script.report(.ringing) == [], "183 after 180")
        #expect(
            script.report(.accepted, extra: "a") == [
                "schedule longest of c1 at 15401000", "keep line of alice for c1 until 15461000",
                "tell alice voip_invite_accept c1 from +49301234/0 [a] to alice-session for 120000",
                "cancel ring of c1 at 1031000",
                "log c1 accepted",
            ])
        #expect(script.continues())
        var other = script
        #expect(
            script.report(.ended(.success), extra: "e") == [
                "tell alice voip_invite_bye c1 from +49301234/0 [e] to alice-session for 120000",
                "forget c1 of alice", "release c1 of b1", "cancel longest of c1 at 15401000",
                "free line of alice for c1",
                "log c1 ended ended_by_callee 0",
            ])
        #expect(
            try other.end(by: other.alice) == [
                "order b1 end in c1 [bye]",
                "forget c1 of alice", "release c1 of b1", "cancel longest of c1 at 15401000",
                "free line of alice for c1",
                "log c1 ended ended_by_caller 0",
            ])
        #expect(!script.continues() && !other.continues())
    }

    @Test func answeredWithoutRinging() throws {
        var script = try CallScript.claimed()
        #expect(
            script.report(.accepted) == [
                "schedule longest of c1 at 15400000", "keep line of alice for c1 until 15460000",
                "tell alice voip_invite_accept c1 from +49301234/0 [x] to alice-session for 120000",
                "cancel acknowledgement of c1 at 1040000",
                "log c1 accepted",
            ])
        #expect(script.report(.ringing) == [], "a ringing that the answer overtook")
        #expect(script.phase == "accepted")
    }

    @Test(arguments: [
        (PhoneAct.refused, "voip_invite_refuse", "refused 700"),
        (.failed(.inviteOther), "voip_invite_failed", "phone_failed 700"),
        (.failed(.inviteNetwork), "voip_invite_failed", "phone_network 702"),
        (.failed(.invitePeerOffline), "voip_invite_failed", "phone_absent 703"),
        (.failed(.inviteTimeout), "voip_invite_failed", "phone_timeout 704"),
    ])
    func comesToNothing(act: PhoneAct, type: String, end: String) throws {
        for (make, cancelled) in [
            ({ try CallScript.claimed() }, "acknowledgement of c1 at 1040000"),
            ({ try CallScript.phoneRinging() }, "ring of c1 at 1030000"),
        ] {
            var script = try make()
            #expect(
                script.report(act) == [
                    "tell alice \(type) c1 from +49301234/0 [x] to alice-session for 120000",
                    "cancel \(cancelled)",
                    "forget c1 of alice", "release c1 of b1", "free line of alice for c1",
                    "log c1 ended \(end)",
                ])
            #expect(!script.continues())
            #expect(script.report(act) == [])
        }
    }

    @Test func callThatBreaksOffIsABye() throws {
        var script = try CallScript.phoneAccepted()
        #expect(
            script.report(.ended(.inviteNetwork)).first
                == "tell alice voip_invite_bye c1 from +49301234/0 [x] to alice-session for 120000")
        #expect(script.phase == "ended: phone_network")
    }

    @Test func digitsGoBothWaysOnceATelephoneIsReached() throws {
        var script = try CallScript.dialled()
        let error = #expect(throws: SignalingError.self) { try script.message(by: script.alice, extra: "1") }
        #expect(error?.reason == .wrongState)
        script = try CallScript.phoneAccepted()
        #expect(try script.message(by: script.alice, extra: "12#") == ["order b1 message in c1 [12#]"])
        #expect(
            script.report(.message, extra: "5") == [
                "tell alice voip_invite_msg c1 from +49301234/0 [5] to alice-session for 120000"
            ])
    }

    @Test func noBridgeTakesIt() throws {
        var script = try CallScript.dialled()
        script.now = 1_040_000
        #expect(
            script.fire(.acknowledgement) == [
                #"tell alice voip_invite_failed c1 from +49301234/0 [{"code":702,"reason":"no_bridge"}] to alice-session"#
                    + " for 120000",
                "forget c1 of alice", "free line of alice for c1", "log c1 ended no_bridge 702",
            ])
    }

    @Test func neitherRingsNorFails() throws {
        var script = try CallScript.claimed()
        script.now = 1_040_000
        #expect(
            script.fire(.acknowledgement) == [
                #"tell alice voip_invite_failed c1 from +49301234/0 [{"code":704,"reason":"timeout"}] to alice-session"#
                    + " for 120000",
                #"order b1 end in c1 [{"code":704,"reason":"timeout"}]"#,
                "forget c1 of alice", "release c1 of b1", "free line of alice for c1",
                "log c1 ended not_acknowledged 704",
            ])
    }

    @Test func ringLimit() throws {
        var script = try CallScript.phoneRinging()
        script.now = 1_029_999
        #expect(script.fire(.ring) == ["schedule ring of c1 at 1030000"])
        script.now = 1_030_000
        #expect(
            script.fire(.ring) == [
                #"tell alice voip_invite_failed c1 from +49301234/0 [{"code":704,"reason":"timeout"}] to alice-session"#
                    + " for 120000",
                #"order b1 end in c1 [{"code":704,"reason":"timeout"}]"#,
                "forget c1 of alice", "release c1 of b1", "free line of alice for c1",
                "log c1 ended not_answered 704",
            ])
    }

    @Test func callOfTheLongestTime() throws {
        var script = try CallScript.phoneAccepted()
        script.now = 15_399_999
        #expect(script.fire(.longest) == ["schedule longest of c1 at 15400000"])
        script.now = 15_400_000
        #expect(
            script.fire(.longest) == [
                #"tell alice voip_invite_bye c1 from +49301234/0 [{"code":704,"reason":"too_long"}] to alice-session"#
                    + " for 120000",
                #"order b1 end in c1 [{"code":704,"reason":"too_long"}]"#,
                "forget c1 of alice", "release c1 of b1", "cancel longest of c1 at 15400000",
                "free line of alice for c1", "log c1 ended too_long 704",
            ])
        #expect(script.fire(.longest) == [])
    }

    @Test func theTrunkMayBoundTheCallsTime() throws {
        var script = try CallScript.none()
        var trunk = TrunkTerms(ring: .seconds(30))
        trunk.longest = .seconds(60)
        let request = try InvitationRequest(
            call: CallID("c1"), caller: script.alice, channel: script.channel, peer: CallScript.phone, extra: "")
        _ = try script.machine.dial(request, trunk: trunk, now: script.time)
        _ = script.report(.claimed)
        #expect(script.report(.accepted).first == "schedule longest of c1 at 1060000")
    }

    @Test func theTimeOfTheFirstRingingIsKept() throws {
        var script = try CallScript.phoneRinging()
        script.now += 1000
        _ = script.report(.accepted)
        #expect(script.machine.snapshot?.call.acknowledgedAt == RedisTime(milliseconds: 1_000_000))
        #expect(script.machine.snapshot?.call.acceptedAt == RedisTime(milliseconds: 1_001_000))
    }

    @Test func aCallBetweenUsersHasNoLongestTime() throws {
        var script = try CallScript.accepted()
        script.now += 100_000_000
        #expect(script.fire(.longest) == [])
        #expect(script.phase == "accepted")
    }

    @Test func whatSIPSaidIsKept() throws {
        var script = try CallScript.dialled()
        _ = script.report(.claimed, record: PhoneRecord(sipCallID: "id@host"))
        _ = script.report(.ringing, record: PhoneRecord(status: 180, reason: "Ringing"))
        _ = script.report(.message)
        #expect(
            script.machine.snapshot?.call.phone?.record
                == PhoneRecord(sipCallID: "id@host", status: 180, reason: "Ringing"))
        _ = script.report(.refused, record: PhoneRecord(status: 486, reason: "Busy Here"))
        #expect(
            script.machine.snapshot?.call.phone?.record
                == PhoneRecord(sipCallID: "id@host", status: 486, reason: "Busy Here"))
    }
}
