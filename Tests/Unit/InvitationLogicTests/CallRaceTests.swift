import InvitationLogic
import SignalingProtocol
import Testing

/// Acts and events that cross each other, and sessions that end or change during a call.
@Suite struct CallRaceTests {
    @Test func acceptThatCrossesTheCallersEndLoses() throws {
        var script = try CallScript.ringing()
        _ = try script.end(by: script.alice)
        let error = #expect(throws: SignalingError.self) { try script.accept() }
        #expect(error?.reason == .callEnded)
        #expect(script.phase == "ended: ended_by_caller")
    }

    @Test func calleeThatReadAWithdrawnInvitationIsToldOnce() throws {
        var script = try CallScript.waiting(online: true)
        script.now = 1_020_000
        _ = script.fire(.acknowledgement)
        #expect(
            try script.acknowledge() == [
                #"tell bob voip_invite_bye c1 from alice/11 [{"code":704,"reason":"timeout"}] to bob-session for 120000"#
            ])
        #expect(try script.acknowledge() == [])
        #expect(throws: SignalingError.self) { try script.accept() }
    }

    @Test func lateAcceptOfAWithdrawnInvitationIsToldToo() throws {
        var script = try CallScript.waiting(online: true)
        script.now = 1_020_000
        _ = script.fire(.acknowledgement)
        #expect(
            try script.accept() == [
                #"tell bob voip_invite_bye c1 from alice/11 [{"code":704,"reason":"timeout"}] to bob-session for 120000"#
            ])
    }

    @Test func calleeThatEndsAWithdrawnInvitationIsNotToldOfTheEnd() throws {
        for act in [{ try $0.refuse() }, { try $0.end(by: $0.bob) }] as [(inout CallScript) throws -> [String]] {
            var script = try CallScript.waiting(online: true)
            script.now = 1_020_000
            _ = script.fire(.acknowledgement)
            #expect(try act(&script) == [])
            #expect(try script.acknowledge() == [])
        }
    }

    @Test func invitationReportedAfterTheEndIsWithdrawn() throws {
        var script = try CallScript.none()
        _ = try script.invite()
        #expect(
            try script.end(by: script.alice) == [
                "cancel acknowledgement of c1 at 1020000", "forget c1 of alice", "log c1 ended ended_by_caller 0",
            ])
        #expect(script.queued() == ["withdraw 7 of bob"])
        #expect(script.queued() == [])
        #expect(try script.acknowledge().count == 1, "should Bob have read it, he is told")
    }

    @Test func invitationReportedAfterTheAcknowledgementIsWithdrawn() throws {
        var script = try CallScript.none()
        _ = try script.invite()
        _ = try script.acknowledge()
        #expect(script.queued() == ["withdraw 7 of bob"])
        var accepted = try CallScript.none()
        _ = try accepted.invite()
        _ = try accepted.accept()
        #expect(accepted.queued() == ["withdraw 7 of bob"])
    }

    @Test func reportOfAnotherCallsInvitationDoesNothing() throws {
        for make in [{ try CallScript.none() }, { try CallScript.waiting() }, { try CallScript.ended() }] {
            var script = try make()
            let before = script.machine
            #expect(script.queued("c0") == [])
            #expect(script.fire(.acknowledgement, of: "c0") == [])
            #expect(script.fire(.ring, of: "c0") == [])
            #expect(script.machine == before)
        }
    }

    @Test func invitationThatTheMailboxRefusesEndsTheCall() throws {
        var script = try CallScript.none()
        _ = try script.invite()
        #expect(
            script.undeliverable() == [
                "cancel acknowledgement of c1 at 1020000", "forget c1 of alice", "log c1 ended undeliverable 700",
            ])
        for make in [
            { try CallScript.none() }, { try CallScript.ringing() }, { try CallScript.accepted() },
            { try CallScript.ended() },
        ] {
            var script = try make()
            #expect(script.undeliverable() == [])
        }
        var waiting = try CallScript.waiting()
        #expect(waiting.undeliverable("c0") == [])
    }

    @Test func callersSessionEnds() throws {
        var waiting = try CallScript.waiting()
        let extra = #"{"code":703,"reason":"peer_offline"}"#
        #expect(
            waiting.lose(waiting.alice) == [
                "tell bob voip_invite_bye c1 from alice/11 [\(extra)] to invited by 7 for 21000 or withdraw",
                "cancel acknowledgement of c1 at 1020000",
                "forget c1 of alice",
                "log c1 ended caller_gone 703",
            ])
        var ringing = try CallScript.ringing()
        #expect(
            ringing.lose(ringing.alice) == [
                "tell bob voip_invite_bye c1 from alice/11 [\(extra)] to bob-session for 120000",
                "cancel ring of c1 at 1060000",
                "forget c1 of alice", "forget c1 of bob",
                "log c1 ended caller_gone 703",
            ])
        var accepted = try CallScript.accepted()
        #expect(
            accepted.lose(accepted.alice).first
                == "tell bob voip_invite_bye c1 from alice/11 [\(extra)] to bob-session for 120000")
    }

    @Test func calleesSessionEnds() throws {
        let extra = #"{"code":703,"reason":"peer_offline"}"#
        var waiting = try CallScript.waiting()
        #expect(waiting.lose(waiting.bob) == [])
        #expect(waiting.phase == "waiting until 1020000", "it waits for the next session")
        var ringing = try CallScript.ringing()
        #expect(
            ringing.lose(ringing.bob) == [
                "tell alice voip_invite_failed c1 from bob/22 [\(extra)] to alice-session for 120000",
                "cancel ring of c1 at 1060000",
                "forget c1 of alice", "forget c1 of bob",
                "log c1 ended callee_gone 703",
            ])
        var accepted = try CallScript.accepted()
        #expect(
            accepted.lose(accepted.bob).first
                == "tell alice voip_invite_bye c1 from bob/22 [\(extra)] to alice-session for 120000")
    }

    @Test func otherSessionsEndWithoutEffect() throws {
        for make in [
            { try CallScript.none() }, { try CallScript.waiting() }, { try CallScript.ringing() },
            { try CallScript.accepted() }, { try CallScript.ended() },
        ] {
            var script = try make()
            let before = script.machine
            #expect(script.lose(script.alice, session: "older") == [])
            #expect(script.lose(script.bob, session: "older") == [])
            #expect(script.machine == before)
        }
        var ended = try CallScript.ended()
        #expect(ended.lose(ended.alice) == [] && ended.lose(ended.bob) == [])
    }

    @Test func acknowledgementByANewerSessionTakesTheCallOver() throws {
        var script = try CallScript.ringing()
        #expect(try script.acknowledge(by: script.anew(script.bob)) == [])
        #expect(script.lose(script.bob) == [], "the old session no longer carries it")
        #expect(
            try script.end(by: script.alice).first
                == "tell bob voip_invite_bye c1 from alice/11 [bye] to bob-session-2 for 120000")
    }

    @Test func newSessionOfTheCallerInvitesAnew() throws {
        var script = try CallScript.waiting()
        let lines = try script.invite("c2", by: script.anew(script.alice))
        #expect(lines.contains("log c1 ended caller_gone 703"))
        #expect(lines.contains("log c2 started"))
        #expect(script.phase == "waiting until 1020000")
    }

    @Test func newSessionOfTheCalleeInvitesTheOtherWay() throws {
        for make in [{ try CallScript.ringing() }, { try CallScript.accepted() }] {
            var script = try make()
            let lines = try script.invite("c2", by: script.anew(script.bob), peer: "alice")
            #expect(lines.contains("log c1 ended callee_gone 703"))
            #expect(lines.contains("log c2 started"))
        }
    }

    @Test func callWhoseTimerWasLostMakesRoom() throws {
        var script = try CallScript.waiting()
        script.now = 1_034_999
        #expect(throws: SignalingError.self) { try script.invite("c2") }
        script.now = 1_035_000
        #expect(try script.invite("c2").contains("log c1 ended not_acknowledged 704"))
        var ringing = try CallScript.ringing()
        ringing.now = 1_075_000
        #expect(try ringing.invite("c2").contains("log c1 ended not_answered 704"))
    }

    @Test func callerEndsWhenTheTimerIsLate() throws {
        var script = try CallScript.waiting()
        script.now = 1_030_000
        #expect(
            try script.end(by: script.alice).first
                == "tell bob voip_invite_bye c1 from alice/11 [bye] to invited by 7 for 1 or withdraw")
    }

    @Test func reportOfAnotherCallsInvitationKeepsThisOnes() throws {
        var script = try CallScript.waiting()
        #expect(script.queued("c0", version: 9) == [])
        #expect(try script.acknowledge().contains("withdraw 7 of bob"))
    }

    @Test func calleeThatRefusedBeforeTheReportIsNotToldOfTheEnd() throws {
        var script = try CallScript.none()
        _ = try script.invite()
        _ = try script.refuse()
        #expect(script.queued() == ["withdraw 7 of bob"])
        #expect(try script.acknowledge() == [])
    }
}
