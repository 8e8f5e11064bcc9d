import BusProtocol
import SIPBridgeLogic
import SignalingProtocol
import Testing

/// Calls from a telephone, up to their answer or failure.
@Suite struct DialogInboundTests {
    @Test func aCallRingsAndIsAnswered() {
        var script = DialogScript()
        #expect(script.act { $0.invited(.timer("1800"), hasOffer: true) } == ["invite: 100", "invite user"])
        #expect(script.act { $0.invitationAnswered(continues: true) } == [])
        #expect(script.order(.ringing) == ["invite: 180"])
        #expect(
            script.order(.accept) == [
                "invite: 200 with description Session-Expires: 1800;refresher=uac Require: timer",
                "retransmission in 500", "acknowledgement in 32000",
            ])
        #expect(
            script.act { $0.acknowledged() } == [
                "no retransmission", "no acknowledgement", "start media", "no refresh", "expiry in 1768000",
            ])
        #expect(script.machine.isUp)
        #expect(script.act { $0.acknowledged() } == [])
    }

    @Test func nobodyCanBeInvited() {
        for (code, status) in [(nil, 480), (SignalingCode.invitePeerOffline, 480), (.inviteTimeout, 408)] {
            var script = DialogScript()
            _ = script.act { $0.invited(SessionTimerFields(), hasOffer: true) }
            #expect(
                script.act { $0.invitationAnswered(continues: false, code: code) }
                    == ["invite: \(status)"] + DialogScript.over)
        }
    }

    @Test func ordersHaveTheirResponses() {
        let orders: [(PhoneOrderAct, SignalingCode?, Int)] = [
            (.refuse, nil, 486), (.end, nil, 480), (.fail, .invitePeerOffline, 480), (.fail, .inviteTimeout, 408),
            (.fail, .inviteOther, 480), (.fail, nil, 480),
        ]
        for (act, code, status) in orders {
            var script = DialogScript.alerting()
            #expect(script.order(act, code) == ["invite: \(status)"] + DialogScript.over)
            #expect(script.order(.accept) == [])
        }
    }

    @Test func ordersMayOvertakeTheAnswerToTheInvitation() {
        var script = DialogScript()
        _ = script.act { $0.invited(SessionTimerFields(), hasOffer: true) }
        #expect(script.order(.ringing) == ["invite: 180"])
        #expect(script.order(.accept).first?.hasPrefix("invite: 200") == true)
        #expect(script.act { $0.invitationAnswered(continues: true) } == [])
    }

    @Test func theCallerGivesUp() {
        var script = DialogScript.alerting()
        #expect(
            script.act { $0.callerCancelled() } == ["invite: 487", "report ended 0 hangup"] + DialogScript.over)
        #expect(script.order(.accept) == [])
        #expect(script.order(.refuse) == [])
    }

    @Test func aCancelThatCrossesTheAnswerChangesNothing() {
        var script = DialogScript.answering()
        #expect(script.act { $0.callerCancelled() } == [])
        #expect(script.act { $0.acknowledged() }.contains("start media"))
    }

    @Test func anEarlyByeEndsTheInvite() {
        var script = DialogScript.alerting()
        #expect(
            script.act { $0.peerEnded() } == ["200", "invite: 487", "report ended 0 hangup"] + DialogScript.over)
    }

    @Test func theAnswerIsRepeatedUntilItIsAcknowledged() {
        var script = DialogScript.answering()
        var pauses: [Int] = []
        var total = 500
        while total < 32_000 {
            let lines = script.fired(.retransmission)
            #expect(lines.first == "200 again")
            let pause = Int(lines[1].split(separator: " ").last ?? "") ?? 0
            pauses.append(pause)
            total += pause
        }
        #expect(pauses.prefix(5) == [1000, 2000, 4000, 4000, 4000])
        #expect(
            script.fired(.acknowledgement) == ["report ended 702 unacknowledged"] + DialogScript.leaving)
        #expect(script.fired(.retransmission) == [])
        #expect(script.act { $0.acknowledged() } == [])
    }

    @Test func byeWaitsForTheAcknowledgement() {
        var script = DialogScript.answering()
        #expect(script.order(.end) == [])
        #expect(script.act { $0.acknowledged() } == DialogScript.leaving)
        script = .answering()
        _ = script.order(.end)
        #expect(script.fired(.acknowledgement) == DialogScript.leaving)
    }

    @Test func theCallerHangsUpBeforeItsAcknowledgement() {
        var script = DialogScript.answering()
        #expect(script.act { $0.peerEnded() } == ["200", "report ended 0 hangup"] + DialogScript.over)
        script = .answering()
        _ = script.order(.end)
        #expect(script.act { $0.peerEnded() } == ["200"] + DialogScript.over)
    }

    @Test func anInviteWithoutOfferGetsOursAndItsAnswerComesWithTheAcknowledgement() {
        var script = DialogScript.answering(hasOffer: false)
        #expect(script.act { $0.acknowledged() }.contains("take description"))
        #expect(script.taken() == ["start media"])
        script = .answering(hasOffer: false)
        _ = script.act { $0.acknowledged() }
        #expect(script.taken(false) == ["report ended 700 unusable_media"] + DialogScript.leaving)
    }

    @Test func anAnswerThatCannotBeMadeIs488() {
        var script = DialogScript.answering()
        #expect(
            script.act { $0.acceptanceFailed() }
                == ["invite: 488", "report ended 700 unusable_media"] + DialogScript.over)
    }

    @Test func aTooSmallIntervalIsRefused() {
        var script = DialogScript()
        #expect(
            script.act { $0.invited(.timer("60"), hasOffer: true) } == ["invite: 422 Min-SE: 90"] + DialogScript.over)
    }

    @Test func theDrainRefusesWhatRings() {
        var script = DialogScript.alerting()
        #expect(
            script.act { $0.abandoned(.bridgeStopped) } == ["report ended 702 bridge_stopped", "invite: 503"]
                + DialogScript.over)
        script = .answering()
        #expect(script.act { $0.abandoned(.bridgeStopped) } == ["report ended 702 bridge_stopped"])
        #expect(script.act { $0.acknowledged() } == DialogScript.leaving)
    }

    @Test func requestsBeforeTheAnswer() {
        var script = DialogScript.alerting()
        #expect(script.offered(.reinvite) == ["500 Retry-After: 3"])
        #expect(script.offered(.reinvite, hasDescription: false) == ["500 Retry-After: 3"])
        #expect(script.offered(.update) == ["500 Retry-After: 3"])
        #expect(script.offered(.update, hasDescription: false) == ["200"])
        script = .answering()
        #expect(script.offered(.reinvite) == ["491"])
    }
}
