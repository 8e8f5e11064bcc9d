import ClusterState
import InvitationLogic
import SignalingProtocol
import Testing

/// The usual courses of a call.
@Suite struct CallStateMachineTests {
    @Test func invitationIsQueuedTimedRememberedAndLogged() throws {
        var script = try CallScript.none()
        #expect(
            try script.invite(extra: #"{"a":1}"#) == [
                "schedule acknowledgement of c1 at 1020000",
                "remember c1 of alice",
                #"invite bob voip_invite c1 from alice/11 [{"a":1}] to anyone for 22000"#,
                "log c1 started",
            ])
        #expect(script.phase == "waiting until 1020000")
        #expect(script.queued() == [])
    }

    @Test func acknowledgementRings() throws {
        var script = try CallScript.waiting()
        script.now += 500
        #expect(
            try script.acknowledge() == [
                "schedule ring of c1 at 1060500",
                "remember c1 of bob",
                "tell alice voip_invite_ack c1 from bob/22 [] to alice-session for 120000",
                "withdraw 7 of bob",
                "cancel acknowledgement of c1 at 1020000",
                "log c1 acknowledged",
            ])
        #expect(script.phase == "ringing until 1060500")
    }

    @Test func acceptanceThenEndByEither() throws {
        var script = try CallScript.ringing()
        #expect(
            try script.accept() == [
                "remember c1 of bob",
                "tell alice voip_invite_accept c1 from bob/22 [yes] to alice-session for 120000",
                "cancel ring of c1 at 1060000",
                "log c1 accepted",
            ])
        var other = script
        #expect(
            try script.end(by: script.alice) == [
                "tell bob voip_invite_bye c1 from alice/11 [bye] to bob-session for 120000",
                "forget c1 of alice", "forget c1 of bob",
                "log c1 ended ended_by_caller 0",
            ])
        #expect(
            try other.end(by: other.bob) == [
                "tell alice voip_invite_bye c1 from bob/22 [bye] to alice-session for 120000",
                "forget c1 of alice", "forget c1 of bob",
                "log c1 ended ended_by_callee 0",
            ])
        #expect(script.phase == "ended: ended_by_caller")
    }

    @Test func refusal() throws {
        var script = try CallScript.ringing()
        #expect(
            try script.refuse() == [
                "tell alice voip_invite_refuse c1 from bob/22 [no] to alice-session for 120000",
                "cancel ring of c1 at 1060000",
                "forget c1 of alice", "forget c1 of bob",
                "log c1 ended refused 700",
            ])
    }

    @Test func answersThatOvertakeTheAcknowledgement() throws {
        var script = try CallScript.waiting()
        var refused = script
        #expect(
            try script.accept() == [
                "remember c1 of bob",
                "tell alice voip_invite_accept c1 from bob/22 [yes] to alice-session for 120000",
                "withdraw 7 of bob",
                "cancel acknowledgement of c1 at 1020000",
                "log c1 accepted",
            ])
        #expect(try script.acknowledge() == [])
        #expect(
            try refused.refuse() == [
                "tell alice voip_invite_refuse c1 from bob/22 [no] to alice-session for 120000",
                "withdraw 7 of bob",
                "cancel acknowledgement of c1 at 1020000",
                "forget c1 of alice", "forget c1 of bob",
                "log c1 ended refused 700",
            ])
    }

    @Test func callerGivesUpBeforeTheAcknowledgement() throws {
        var script = try CallScript.waiting()
        script.now += 5_000
        #expect(
            try script.end(by: script.alice) == [
                "tell bob voip_invite_bye c1 from alice/11 [bye] to invited by 7 for 16000 or withdraw",
                "cancel acknowledgement of c1 at 1020000",
                "forget c1 of alice",
                "log c1 ended ended_by_caller 0",
            ])
    }

    @Test(arguments: [
        (false, false, CallEnd.calleeOffline), (true, false, .notAcknowledged), (false, true, .notAcknowledged),
    ])
    func noAcknowledgement(atInvite: Bool, atEnd: Bool, end: CallEnd) throws {
        var script = try CallScript.waiting(online: atInvite)
        script.now = 1_019_999
        #expect(script.fire(.acknowledgement) == ["schedule acknowledgement of c1 at 1020000"])
        script.now = 1_020_000
        #expect(
            script.fire(.acknowledgement, online: atEnd) == [
                "tell alice voip_invite_failed c1 from bob/\(atInvite ? 22 : 0) [\(end.extra)] to alice-session"
                    + " for 120000",
                "withdraw 7 of bob",
                "forget c1 of alice",
                "log c1 ended \(end.rawValue) \(end.code.rawValue)",
            ])
        #expect(script.fire(.acknowledgement) == [])
    }

    @Test func noAnswer() throws {
        var script = try CallScript.ringing()
        script.now = 1_059_999
        #expect(script.fire(.ring) == ["schedule ring of c1 at 1060000"])
        #expect(script.fire(.acknowledgement) == [])
        script.now = 1_060_000
        #expect(
            script.fire(.ring) == [
                #"tell alice voip_invite_failed c1 from bob/22 [{"code":704,"reason":"timeout"}] to alice-session"#
                    + " for 120000",
                #"tell bob voip_invite_bye c1 from alice/11 [{"code":704,"reason":"timeout"}] to bob-session for 120000"#,
                "forget c1 of alice", "forget c1 of bob",
                "log c1 ended not_answered 704",
            ])
    }

    @Test func calleeMustBeOnline() throws {
        for extra in [#"{"_require_peer_online":1}"#, #"{"_timeout":0}"#] {
            var script = try CallScript.none()
            #expect(
                try script.invite(extra: extra, online: false) == [
                    #"tell alice voip_invite_failed c1 from bob/0 [{"code":703,"reason":"peer_offline"}]"#
                        + " to alice-session for 120000",
                    "log c1 ended callee_offline 703",
                ])
            #expect(script.phase == "ended: callee_offline")
        }
    }

    @Test func aZeroTimeoutWaitsTwoSecondsForTheAcknowledgement() throws {
        var script = try CallScript.none()
        _ = try script.invite(extra: #"{"_timeout":0}"#, online: true)
        #expect(script.phase == "waiting until 1002000")
    }

    @Test func reInvitationIsRefusedFromEitherSideWhilePending() throws {
        for make in [{ try CallScript.waiting() }, { try CallScript.ringing() }, { try CallScript.accepted() }] {
            var script = try make()
            let phase = script.phase
            for (caller, peer) in [(script.alice, "bob"), (script.bob, "alice")] {
                let error = #expect(throws: SignalingError.self) {
                    try script.invite("c2", by: caller, peer: peer)
                }
                #expect(error?.code == .inviteReinvite && error?.reason == .reinvite)
            }
            #expect(script.phase == phase)
        }
    }

    @Test func endedPairCanCallAgainInEitherDirection() throws {
        var script = try CallScript.ended()
        #expect(try script.invite("c2", by: script.bob, peer: "alice").contains("remember c2 of bob"))
        #expect(throws: SignalingError.self) {
            try script.acknowledge(by: script.bob)
        }
        #expect(try script.acknowledge(by: script.alice).contains("remember c2 of alice"))
    }

    @Test func theFirstAcknowledgementsTimeIsKept() throws {
        var script = try CallScript.ringing()
        script.now += 1000
        _ = try script.acknowledge()
        script.now += 1000
        _ = try script.accept()
        #expect(script.machine.snapshot?.call.acknowledgedAt == RedisTime(milliseconds: 1_000_000))
        #expect(script.machine.snapshot?.call.acceptedAt == RedisTime(milliseconds: 1_002_000))
    }

    @Test func calleeMayEndBeforeTheAcknowledgement() throws {
        var script = try CallScript.waiting()
        #expect(
            try script.end(by: script.bob) == [
                "tell alice voip_invite_bye c1 from bob/22 [bye] to alice-session for 120000", "withdraw 7 of bob",
                "cancel acknowledgement of c1 at 1020000", "forget c1 of alice", "forget c1 of bob",
                "log c1 ended ended_by_callee 0",
            ])
    }

    /// The messages about a call that Redis forgot: its parties' sessions are known from the mirror.
    @Test func partiesOfALostCallAreTold() throws {
        func told(_ script: CallScript) -> [String] {
            script.machine.snapshot?.call.lostDeliveries.map {
                "\($0.receiver) \($0.event.type.rawValue) \($0.event.extra)"
            } ?? []
        }
        let extra = #"{"code":702,"reason":"lost"}"#
        #expect(told(try .waiting()) == ["alice voip_invite_failed \(extra)"])
        #expect(told(try .ringing()) == ["alice voip_invite_failed \(extra)", "bob voip_invite_bye \(extra)"])
        #expect(told(try .accepted()) == ["alice voip_invite_bye \(extra)", "bob voip_invite_bye \(extra)"])
    }
}
