import BusProtocol
import InvitationLogic
import SignalingProtocol
import Testing

/// Calls from a telephone to a user.
@Suite struct InboundPhoneTests {
    private static let offline = #"{"code":703,"reason":"peer_offline"}"#

    @Test func invitationIsQueuedTimedHeldAndLogged() throws {
        var script = try CallScript.none()
        #expect(
            try script.inviteFromPhone() == [
                "schedule acknowledgement of c1 at 1020000",
                "hold c1 of b1",
                "invite alice voip_invite c1 from +49301234/0 [{}] to anyone for 22000",
                "log c1 started",
            ])
        #expect(script.continues())
        #expect(try script.inviteFromPhone() == [], "delivered twice")
        #expect(script.continues())
    }

    @Test func offlineUserLeavesNoTrace() throws {
        var script = try CallScript.none()
        #expect(try script.inviteFromPhone(online: false) == ["log c1 ended callee_offline 703"])
        #expect(!script.continues())
    }

    @Test func fullMailbox() throws {
        var script = try CallScript.none()
        _ = try script.inviteFromPhone()
        #expect(
            script.undeliverable() == [
                "cancel acknowledgement of c1 at 1020000", "release c1 of b1", "log c1 ended undeliverable 700",
            ])
        #expect(!script.continues())
    }

    @Test func ringsIsAcceptedAndEndedByEither() throws {
        var script = try CallScript.inbound()
        #expect(
            try script.acknowledge(by: script.alice) == [
                "schedule ring of c1 at 1060000",
                "remember c1 of alice",
                "order b1 ringing in c1 []",
                "withdraw 7 of alice",
                "cancel acknowledgement of c1 at 1020000",
                "log c1 acknowledged",
            ])
        #expect(
            try script.accept(by: script.alice) == [
                "remember c1 of alice", "schedule longest of c1 at 15400000",
                "order b1 accept in c1 [yes]",
                "cancel ring of c1 at 1060000",
                "log c1 accepted",
            ])
        #expect(script.continues())
        var other = script
        #expect(
            try script.end(by: script.alice) == [
                "order b1 end in c1 [bye]", "forget c1 of alice", "release c1 of b1",
                "cancel longest of c1 at 15400000", "log c1 ended ended_by_callee 0",
            ])
        #expect(
            other.report(.ended(.success)) == [
                "tell alice voip_invite_bye c1 from +49301234/0 [x] to alice-session for 120000",
                "forget c1 of alice", "release c1 of b1", "cancel longest of c1 at 15400000",
                "log c1 ended ended_by_caller 0",
            ])
    }

    @Test func refusal() throws {
        var script = try CallScript.inboundRinging()
        #expect(
            try script.refuse(by: script.alice) == [
                "order b1 refuse in c1 [no]", "cancel ring of c1 at 1060000",
                "forget c1 of alice", "release c1 of b1", "log c1 ended refused 700",
            ])
    }

    @Test func noAcknowledgement() throws {
        var script = try CallScript.inbound()
        script.now = 1_020_000
        #expect(
            script.fire(.acknowledgement) == [
                #"order b1 fail in c1 [{"code":704,"reason":"timeout"}]"#,
                "withdraw 7 of alice", "release c1 of b1", "log c1 ended not_acknowledged 704",
            ])
    }

    @Test(arguments: [(Int64?.none, Int64(1_060_000)), (30_000, 1_030_000)])
    func noAnswer(ring: Int64?, deadline: Int64) throws {
        var script = try CallScript.none()
        _ = try script.inviteFromPhone(ring: ring)
        _ = script.queued()
        _ = try script.acknowledge(by: script.alice)
        script.now = deadline
        #expect(
            script.fire(.ring) == [
                #"order b1 fail in c1 [{"code":704,"reason":"timeout"}]"#,
                #"tell alice voip_invite_bye c1 from +49301234/0 [{"code":704,"reason":"timeout"}] to alice-session"#
                    + " for 120000",
                "forget c1 of alice", "release c1 of b1", "log c1 ended not_answered 704",
            ])
    }

    @Test func shortRingBoundsTheAcknowledgementToo() throws {
        var script = try CallScript.none()
        _ = try script.inviteFromPhone(ring: 5_000)
        #expect(script.phase == "waiting until 1005000")
    }

    @Test func phoneGivesUp() throws {
        var waiting = try CallScript.inbound()
        #expect(
            waiting.report(.ended(.success)) == [
                "tell alice voip_invite_bye c1 from +49301234/0 [x] to invited by 7 for 21000 or withdraw",
                "cancel acknowledgement of c1 at 1020000", "release c1 of b1", "log c1 ended ended_by_caller 0",
            ])
        var ringing = try CallScript.inboundRinging()
        #expect(
            ringing.report(.ended(.success)) == [
                "tell alice voip_invite_bye c1 from +49301234/0 [x] to alice-session for 120000",
                "cancel ring of c1 at 1060000", "forget c1 of alice", "release c1 of b1",
                "log c1 ended ended_by_caller 0",
            ])
        // The user accepts after the caller has hung up, before hearing of it.
        #expect(throws: SignalingError.self) { try ringing.accept(by: ringing.alice) }
        #expect(!ringing.continues())
    }

    @Test func digitsGoBothWays() throws {
        var script = try CallScript.inboundAccepted()
        #expect(try script.message(by: script.alice, extra: "1") == ["order b1 message in c1 [1]"])
        #expect(
            script.report(.message, extra: "2") == [
                "tell alice voip_invite_msg c1 from +49301234/0 [2] to alice-session for 120000"
            ])
    }

    @Test func sessionOfTheUserEnds() throws {
        var waiting = try CallScript.inbound()
        #expect(waiting.lose(waiting.alice) == [], "the next session may still answer")
        var ringing = try CallScript.inboundRinging()
        #expect(ringing.lose(ringing.alice).first == "order b1 fail in c1 [\(Self.offline)]")
        var accepted = try CallScript.inboundAccepted()
        #expect(accepted.lose(accepted.alice).first == "order b1 end in c1 [\(Self.offline)]")
        #expect(accepted.phase == "ended: callee_gone")
    }

    @Test func bridgeIsLost() throws {
        let extra = #"{"code":702,"reason":"bridge_lost"}"#
        var waiting = try CallScript.inbound()
        #expect(
            waiting.loseBridge().first
                == "tell alice voip_invite_bye c1 from +49301234/0 [\(extra)] to invited by 7 for 21000 or withdraw")
        for make in [{ try CallScript.inboundRinging() }, { try CallScript.inboundAccepted() }] {
            var script = try make()
            #expect(
                script.loseBridge().first
                    == "tell alice voip_invite_bye c1 from +49301234/0 [\(extra)] to alice-session for 120000")
        }
    }

    @Test func aCallersPhoneCannotActAsCallee() throws {
        var script = try CallScript.inbound()
        let before = script.phase
        for act in [PhoneAct.claimed, .ringing, .accepted] { #expect(script.report(act) == []) }
        #expect(script.phase == before)
    }

    @Test func messageOfThePhoneBeforeTheAcknowledgementFollowsTheInvitation() throws {
        var script = try CallScript.inbound()
        #expect(
            script.report(.message, extra: "2") == [
                "tell alice voip_invite_msg c1 from +49301234/0 [2] to invited by 7 for 21000"
            ])
    }

    @Test func userOfTheTelephonesNameIsAStranger() throws {
        var script = try CallScript.inboundRinging()
        var stranger = script.bob
        stranger.user = UserKey(app: stranger.user.app, account: script.telephone)
        #expect(throws: SignalingError.self) { try script.end(by: stranger) }
        #expect(throws: SignalingError.self) { try script.message(by: stranger) }
    }
}
