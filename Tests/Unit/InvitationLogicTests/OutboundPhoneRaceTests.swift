import BusProtocol
import InvitationLogic
import SignalingProtocol
import Testing

/// Calls from a user to a telephone: acts and reports that cross each other, and what ends from outside.
@Suite struct OutboundPhoneRaceTests {
    @Test func endBeforeTheClaim() throws {
        var script = try CallScript.dialled()
        #expect(
            try script.end(by: script.alice) == [
                "cancel acknowledgement of c1 at 1040000", "forget c1 of alice", "free line of alice for c1",
                "log c1 ended ended_by_caller 0",
            ])
        #expect(script.report(.claimed) == [])
        #expect(!script.continues(), "so the bridge dials nothing")
    }

    @Test func secondBridgeIsRefusedAndTheFirstMayAskAgain() throws {
        var script = try CallScript.claimed()
        #expect(script.report(.claimed, by: "b2") == [])
        #expect(!script.continues(with: "b2"))
        #expect(script.report(.claimed) == [])
        #expect(script.continues(with: "b1"))
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
        #expect(!script.continues())
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
            #expect(!script.continues())
        }
        #expect(script.machine == ended)
        #expect(try script.end(by: script.alice) == [], "said twice")
        #expect(throws: SignalingError.self) { try script.message(by: script.alice) }
    }

    @Test func reportOfAnEarlierCallTouchesNoLaterOne() throws {
        var script = try CallScript.phoneAccepted()
        _ = script.report(.ended(.success))
        _ = try script.dial("c2")
        #expect(script.report(.claimed, of: "c1") == [])
        #expect(!script.continues("c2"))
        _ = script.report(.claimed, of: "c2", by: "b2")
        #expect(script.report(.ended(.success), of: "c1") == [])
        #expect(script.report(.ended(.success), of: "c1", by: "b2") == [])
        #expect(script.loseBridge(call: "c1") == [])
        #expect(script.continues("c2", with: "b2"))
        #expect(!script.continues("c1"))
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
}
