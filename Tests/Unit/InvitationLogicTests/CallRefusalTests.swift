import BusProtocol
import InvitationLogic
import SignalingProtocol
import Testing

/// Acts by the wrong party or in the wrong state, and messages within calls.
@Suite struct CallRefusalTests {
    typealias Act = @Sendable (inout CallScript) throws -> [String]

    private func reason(_ script: CallScript, _ act: Act) -> String {
        var script = script
        do {
            return "\(try act(&script).count) actions"
        } catch let error as SignalingError {
            return "\(error.code.rawValue) \(error.reason)"
        } catch {
            return "\(error)"
        }
    }

    @Test func theCallerMayNotActAsTheCallee() throws {
        let acts: [Act] = [
            { try $0.acknowledge(by: $0.alice) }, { try $0.accept(by: $0.alice) }, { try $0.refuse(by: $0.alice) },
        ]
        for script in [
            try CallScript.waiting(), try .ringing(), try .accepted(), try .ended(),
        ] {
            for act in acts { #expect(reason(script, act) == "1001 unknown_call") }
        }
    }

    @Test func actsOfAnUnknownCall() throws {
        let acts: [Act] = [
            { try $0.acknowledge() }, { try $0.accept() }, { try $0.refuse() }, { try $0.end(by: $0.alice) },
            { try $0.end(by: $0.bob) }, { try $0.message(by: $0.alice) }, { try $0.message(by: $0.bob) },
        ]
        for act in acts { #expect(reason(try .none(), act) == "1001 unknown_call") }
        var script = try CallScript.none()
        #expect(script.queued() == [] && script.fire(.acknowledgement) == [] && script.lose(script.alice) == [])
    }

    @Test func repeatedActsDoNothing() throws {
        #expect(reason(try .ringing()) { try $0.acknowledge() } == "0 actions")
        #expect(reason(try .accepted()) { try $0.accept() } == "0 actions")
        #expect(reason(try .accepted()) { try $0.refuse() } == "1001 wrong_state")
    }

    @Test func actsAfterTheEnd() throws {
        #expect(reason(try .ended()) { try $0.acknowledge() } == "0 actions")
        #expect(reason(try .ended()) { try $0.accept() } == "1001 call_ended")
        #expect(reason(try .ended()) { try $0.refuse() } == "0 actions")
        #expect(reason(try .ended()) { try $0.end(by: $0.alice) } == "0 actions")
        #expect(reason(try .ended()) { try $0.end(by: $0.bob) } == "0 actions")
        #expect(reason(try .ended()) { try $0.message(by: $0.alice) } == "1001 call_ended")
        #expect(reason(try .ended()) { try $0.message(by: $0.bob) } == "1001 call_ended")
    }

    @Test func endInEveryLiveStateByTheCallee() throws {
        for make in [{ try CallScript.waiting() }, { try CallScript.ringing() }, { try CallScript.accepted() }] {
            var script = try make()
            #expect(
                try script.end(by: script.bob).first
                    == "tell alice voip_invite_bye c1 from bob/22 [bye] to alice-session for 120000")
            #expect(script.phase == "ended: ended_by_callee")
        }
        var ringing = try CallScript.ringing()
        #expect(
            try ringing.end(by: ringing.alice).first
                == "tell bob voip_invite_bye c1 from alice/11 [bye] to bob-session for 120000")
    }

    @Test func messagesInEveryLiveState() throws {
        for make in [{ try CallScript.waiting() }, { try CallScript.ringing() }, { try CallScript.accepted() }] {
            var script = try make()
            let before = script.machine
            #expect(
                try script.message(by: script.bob)
                    == ["tell alice voip_invite_msg c1 from bob/22 [hi] to alice-session for 120000"])
            #expect(script.machine == before)
        }
        var waiting = try CallScript.waiting()
        #expect(
            try waiting.message(by: waiting.alice)
                == ["tell bob voip_invite_msg c1 from alice/11 [hi] to invited by 7 for 21000"])
        for make in [{ try CallScript.ringing() }, { try CallScript.accepted() }] {
            var script = try make()
            #expect(
                try script.message(by: script.alice)
                    == ["tell bob voip_invite_msg c1 from alice/11 [hi] to bob-session for 120000"])
        }
        var unqueued = try CallScript.none()
        _ = try unqueued.invite()
        #expect(try unqueued.message(by: unqueued.alice) == [])
    }

    @Test func newSessionOfTheCallerMayEndAndSpeak() throws {
        var script = try CallScript.ringing()
        #expect(try script.message(by: script.anew(script.alice)).count == 1)
        #expect(try script.end(by: script.anew(script.alice)).count == 5)
    }

    @Test func strangerHasNoCall() throws {
        let stranger = Actor(
            user: UserKey(app: try AppID("app"), account: try Account("eve")), uid: 3, session: SessionID("e"))
        #expect(reason(try .ringing()) { try $0.end(by: stranger) } == "1001 unknown_call")
        #expect(reason(try .waiting()) { try $0.message(by: stranger) } == "1001 unknown_call")
    }

    @Test func snapshotsRestoreEveryState() throws {
        for script in [
            try CallScript.waiting(), try .waiting(online: false), try .ringing(), try .accepted(), try .ended(),
        ] {
            let snapshot = try #require(script.machine.snapshot)
            #expect(CallStateMachine(snapshot) == script.machine)
        }
        #expect(CallStateMachine().snapshot == nil)
        #expect(try CallScript.ended().machine.snapshot?.timeToLive == .seconds(60))
        #expect(try CallScript.accepted().machine.snapshot?.timeToLive == .seconds(86_400))
    }
}
