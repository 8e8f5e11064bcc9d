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
        #expect(!script.stands())
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
        #expect(script.stands())
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
        #expect(script.stands())
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
        #expect(!script.stands() && !other.stands())
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
            #expect(!script.stands())
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

    // MARK: Races

    @Test func endBeforeTheClaim() throws {
        var script = try CallScript.dialled()
        #expect(
            try script.end(by: script.alice) == [
                "cancel acknowledgement of c1 at 1040000", "forget c1 of alice", "free line of alice for c1",
                "log c1 ended ended_by_caller 0",
            ])
        #expect(script.report(.claimed) == [])
        #expect(!script.stands(), "so the bridge dials nothing")
    }

    @Test func secondBridgeIsRefusedAndTheFirstMayAskAgain() throws {
        var script = try CallScript.claimed()
        #expect(script.report(.claimed, by: "b2") == [])
        #expect(!script.stands(with: "b2"))
        #expect(script.report(.claimed) == [])
        #expect(script.stands(with: "b1"))
        for act in [PhoneAct.ringing, .accepted, .refused, .failed(.inviteOther), .ended(.success), .message] {
            #expect(script.report(act, by: "b2") == [], "of a bridge that does not hold it")
        }
        #expect(script.phase == "waiting until 1040000")
    }

    @Test func userEndsWhileItRings() throws {
        var script = try CallScript.phoneRinging()
        #expect(
            try script.end(by: script.alice) == [
                "order b1 end in c1 [bye]", "cancel ring of c1 at 1030000",
                "forget c1 of alice", "release c1 of b1", "free line of alice for c1", "log c1 ended ended_by_caller 0",
            ])
        // The 200 crossed the CANCEL: the user does not see it, and the bridge hangs up.
        #expect(script.report(.accepted) == [])
        #expect(!script.stands())
    }

    @Test func sessionOfTheUserEnds() throws {
        for make in [
            { try CallScript.claimed() }, { try CallScript.phoneRinging() }, { try CallScript.phoneAccepted() },
        ] {
            var script = try make()
            let actions = script.lose(script.alice)
            #expect(actions.first == #"order b1 end in c1 [{"code":703,"reason":"peer_offline"}]"#)
            #expect(actions.last == "log c1 ended caller_gone 703")
            #expect(actions.contains("release c1 of b1"))
        }
    }

    @Test func reportsAfterTheEndChangeNothing() throws {
        var script = try CallScript.phoneAccepted()
        _ = try script.end(by: script.alice)
        let ended = script.machine
        for act in [
            PhoneAct.claimed, .ringing, .accepted, .refused, .failed(.inviteOther), .ended(.success), .message,
        ] {
            #expect(script.report(act) == [])
            #expect(!script.stands())
        }
        #expect(script.machine == ended)
        #expect(try script.end(by: script.alice) == [], "said twice")
        #expect(throws: SignalingError.self) { try script.message(by: script.alice) }
    }

    @Test func reportOfAnEarlierCallTouchesNoLaterOne() throws {
        var script = try CallScript.phoneAccepted()
        _ = script.report(.ended(.success))
        _ = try script.dial("c2")
        _ = script.report(.claimed, of: "c2", by: "b2")
        #expect(script.report(.ended(.success), of: "c1") == [])
        #expect(script.loseBridge(call: "c1") == [])
        #expect(script.stands("c2", with: "b2"))
        #expect(!script.stands("c1"))
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

    @Test func aCallBetweenUsersHasNoLongestTime() throws {
        var script = try CallScript.accepted()
        script.now += 100_000_000
        #expect(script.fire(.longest) == [])
        #expect(script.phase == "accepted")
    }

    @Test func bridgeIsLost() throws {
        let extra = #"{"code":702,"reason":"bridge_lost"}"#
        for (make, type) in [
            ({ try CallScript.claimed() }, "voip_invite_failed"),
            ({ try CallScript.phoneRinging() }, "voip_invite_failed"),
            ({ try CallScript.phoneAccepted() }, "voip_invite_bye"),
        ] {
            var script = try make()
            #expect(script.loseBridge("b2") == [])
            let actions = script.loseBridge()
            #expect(actions.first == "tell alice \(type) c1 from +49301234/0 [\(extra)] to alice-session for 120000")
            #expect(actions.last == "log c1 ended bridge_lost 702")
            #expect(!actions.contains { $0.hasPrefix("order") })
            #expect(script.loseBridge() == [])
        }
    }

    @Test func userOfTheTelephonesNameIsAStranger() throws {
        var script = try CallScript.phoneRinging()
        var stranger = script.bob
        stranger.user = UserKey(app: stranger.user.app, account: try Account(CallScript.phone))
        #expect(throws: SignalingError.self) { try script.accept(by: stranger) }
        #expect(throws: SignalingError.self) { try script.end(by: stranger) }
        #expect(script.lose(stranger) == [])
    }

    @Test func nextSessionMayCallAgain() throws {
        var script = try CallScript.phoneRinging()
        #expect(throws: SignalingError.self) { try script.dial("c2") }
        let again = try InvitationRequest(
            call: CallID("c2"), caller: script.anew(script.alice), channel: script.channel, peer: CallScript.phone,
            extra: "")
        let actions = try script.machine.dial(again, trunk: TrunkTerms(ring: .milliseconds(1)), now: script.time).map(
            describe)
        #expect(actions.first == #"order b1 end in c1 [{"code":703,"reason":"peer_offline"}]"#)
        #expect(actions.contains("dial +49301234 for alice in c2 [] until 1040000"))
    }

    @Test func whatSIPSaidIsKept() throws {
        var script = try CallScript.dialled()
        _ = script.report(.claimed, record: PhoneRecord(sipCallID: "id@host"))
        _ = script.report(.refused, record: PhoneRecord(status: 486, reason: "Busy Here"))
        #expect(
            script.machine.snapshot?.call.phone?.record
                == PhoneRecord(sipCallID: "id@host", status: 486, reason: "Busy Here"))
    }
}
