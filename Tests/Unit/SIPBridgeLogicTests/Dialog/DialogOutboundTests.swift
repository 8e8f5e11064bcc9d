import BusProtocol
import SIPBridgeLogic
import SignalingProtocol
import Testing

/// Calls to a telephone, up to their answer or failure.
@Suite struct DialogOutboundTests {
    @Test func aCallIsClaimedBeforeAnythingIsDialled() {
        var script = DialogScript()
        #expect(script.act { $0.dial() } == ["report claimed"])
        #expect(script.act { $0.claimAnswered(continues: true) } == ["prepare"])
        #expect(script.act { $0.prepared(ring: .seconds(60)) } == ["INVITE Session-Expires: 1800", "ring in 60000"])
        #expect(script.provisional(100) == [])
        #expect(script.provisional(180) == ["report ringing (180)"])
        #expect(script.final(200) == ["no ring", "ACK peer", "take description"])
        #expect(script.taken() == ["start media", "report accepted (200)", "no refresh", "no expiry"])
        #expect(script.machine.isUp)
    }

    @Test func aClaimThatDoesNotStandDialsNothing() {
        var script = DialogScript.claiming()
        #expect(script.act { $0.claimAnswered(continues: false) } == DialogScript.over)
        #expect(script.fired(.linger) == ["forget"])
    }

    @Test func aCallWithoutTrunkFails() {
        var script = DialogScript.preparing()
        #expect(
            script.act { $0.unprepared(.inviteOther, .noTrunk) } == ["report failed 700 no_trunk"] + DialogScript.over)
    }

    @Test func ringingIsToldOnceAlsoWithEarlyMedia() {
        var script = DialogScript.calling()
        #expect(script.provisional(183) == ["report ringing (183)"])
        #expect(script.provisional(180) == [])
        #expect(script.provisional(183, tag: "fork") == [])
    }

    @Test(
        arguments: [
            (486, "refused refused"), (600, "refused refused"), (603, "refused refused"),
            (404, "failed 700 rejected"), (484, "failed 700 rejected"), (604, "failed 700 rejected"),
            (480, "failed 703 peer_offline"), (408, "failed 704 timeout"), (302, "failed 700 rejected"),
            (403, "failed 700 rejected"), (487, "failed 700 rejected"), (500, "failed 700 rejected"),
            (503, "failed 700 rejected"), (401, "failed 700 rejected"), (407, "failed 700 rejected"),
            (422, "failed 700 rejected"), (699, "failed 700 rejected"),
        ])
    func finalResponsesHaveTheirCodes(status: Int, act: String) {
        var script = DialogScript.ringing()
        #expect(script.final(status) == ["no ring", "report \(act) (\(status))"] + DialogScript.over)
    }

    @Test func noResponseIsATimeoutOrANetworkFailure() {
        var script = DialogScript.calling()
        #expect(
            script.act { $0.inviteFailed(.timedOut) } == ["no ring", "report failed 704 timeout"] + DialogScript.over)
        script = DialogScript.calling()
        #expect(
            script.act { $0.inviteFailed(.unreachable) }
                == ["no ring", "report failed 702 unreachable"] + DialogScript.over)
    }

    @Test func aChallengeThatCanBeAnsweredIs() {
        var script = DialogScript.calling()
        _ = script.provisional(100)
        #expect(script.final(401, isAnswerable: true) == ["INVITE Session-Expires: 1800"])
        #expect(script.final(407, isAnswerable: true) == ["INVITE Session-Expires: 1800"])
        #expect(script.final(401) == ["no ring", "report failed 700 rejected (401)"] + DialogScript.over)
    }

    @Test func aTooSmallIntervalIsRaised() {
        var script = DialogScript.calling()
        #expect(
            script.final(422, .timer(nil, minimum: "3600")) == ["INVITE Session-Expires: 3600 Min-SE: 3600"])
        // When the peer demands the same minimum again, the request is not repeated.
        #expect(
            script.final(422, .timer(nil, minimum: "3600")).contains("report failed 700 rejected (422)"))
    }

    @Test func minSEIsNeverBelowNinety() {
        var script = DialogScript.calling()
        #expect(script.final(422, .timer(nil, minimum: "30")) == ["INVITE Session-Expires: 1800 Min-SE: 90"])
    }

    // MARK: Cancelling

    @Test func cancelWaitsForAProvisionalResponse() {
        var script = DialogScript.calling()
        #expect(script.order(.end) == ["no ring"])
        #expect(script.provisional(100) == ["CANCEL", "cancelled in 32000"])
        #expect(script.provisional(180) == [])
        #expect(script.final(487) == ["no cancelled"] + DialogScript.over)
    }

    @Test func cancelGoesAtOnceWhenItRings() {
        var script = DialogScript.ringing()
        #expect(script.order(.end) == ["no ring", "CANCEL", "cancelled in 32000"])
        #expect(script.order(.end) == [])
    }

    @Test func theProvisionalResponseOfAChallengedInviteDoesNotCountForTheNext() {
        var script = DialogScript.calling()
        _ = script.provisional(100)
        _ = script.final(401, isAnswerable: true)
        #expect(script.order(.end) == ["no ring"])
    }

    @Test func anAnswerThatCrossesTheCancelIsEndedAndNeverSeen() {
        var script = DialogScript.ringing()
        _ = script.order(.end)
        #expect(script.final(200) == ["no cancelled", "ACK peer"] + DialogScript.leaving)
        #expect(script.act { $0.answeredAgain(tag: "peer") } == ["ACK peer"])
        #expect(script.act { $0.byeAnswered() } == DialogScript.over)
    }

    @Test func aChallengeThatCrossesTheCancelIsNotAnswered() {
        var script = DialogScript.ringing()
        _ = script.order(.end)
        #expect(script.final(401, isAnswerable: true) == ["no cancelled"] + DialogScript.over)
    }

    @Test func aPeerThatIgnoresTheCancelIsGivenUpAndALateAnswerEnded() {
        var script = DialogScript.ringing()
        _ = script.order(.end)
        #expect(script.fired(.cancelled) == DialogScript.over)
        #expect(script.final(200, tag: "late") == ["ACK late", "BYE late"])
        #expect(script.act { $0.answeredAgain(tag: "late") } == ["ACK late"])
    }

    @Test func anEndBeforeTheInviteDialsNothing() {
        for var script in [DialogScript.claiming(), .preparing()] {
            #expect(script.order(.end) == DialogScript.over)
            #expect(script.act { $0.claimAnswered(continues: true) } == [])
            #expect(script.act { $0.prepared(ring: .seconds(1)) } == [])
            #expect(script.act { $0.unprepared(.inviteOther, .noTrunk) } == [])
        }
    }

    @Test func aRefusedReportLetsGo() {
        var script = DialogScript.ringing()
        #expect(script.act { $0.reportRefused() } == ["no ring", "CANCEL", "cancelled in 32000"])
        script = .up()
        #expect(script.act { $0.reportRefused() } == DialogScript.leaving)
    }

    @Test func ringingForTooLongIsATimeout() {
        var script = DialogScript.ringing()
        #expect(
            script.fired(.ring)
                == ["report failed 704 timeout", "no ring", "CANCEL", "cancelled in 32000"])
        script = .up()
        #expect(script.fired(.ring) == [])
    }

    // MARK: Answers

    @Test func anAnswerThatCannotBeUsedIsAcknowledgedAndEnded() {
        var script = DialogScript.ringing()
        #expect(script.final(200) == ["no ring", "ACK peer", "take description"])
        #expect(script.taken(false) == ["report failed 700 unusable_media (200)"] + DialogScript.leaving)
    }

    @Test func everyCopyOfTheAnswerIsAcknowledgedAgain() {
        var script = DialogScript.up()
        #expect(script.act { $0.answeredAgain(tag: "peer") } == ["ACK peer"])
        #expect(script.act { $0.answeredAgain(tag: "peer") } == ["ACK peer"])
        _ = script.order(.end)
        #expect(script.act { $0.answeredAgain(tag: "peer") } == ["ACK peer"])
        _ = script.act { $0.byeAnswered() }
        #expect(script.act { $0.answeredAgain(tag: "peer") } == ["ACK peer"])
    }

    @Test func anotherTelephonesAnswerIsAcknowledgedAndEndedOnce() {
        var script = DialogScript.up()
        #expect(script.act { $0.answeredAgain(tag: "other") } == ["ACK other", "BYE other"])
        #expect(script.act { $0.answeredAgain(tag: "other") } == ["ACK other"])
        #expect(script.machine.isUp)
    }

    @Test func lateResponsesChangeNothing() {
        var script = DialogScript.up()
        #expect(script.provisional(180) == [])
        #expect(script.final(486) == [])
        #expect(script.act { $0.inviteFailed(.timedOut) } == [])
        #expect(script.act { $0.claimAnswered(continues: false) } == [])
        #expect(script.machine.isUp)
    }

    // MARK: The end

    @Test func eitherSideHangsUp() {
        var script = DialogScript.up()
        #expect(script.order(.end) == DialogScript.leaving)
        #expect(script.order(.end) == [])
        #expect(script.act { $0.byeAnswered() } == DialogScript.over)
        script = .up()
        #expect(script.act { $0.peerEnded() } == ["200", "report ended 0 hangup"] + DialogScript.over)
        #expect(script.act { $0.peerEnded() } == ["481"])
    }

    @Test func bothHangUpAtOnce() {
        var script = DialogScript.up()
        _ = script.order(.end)
        #expect(script.act { $0.peerEnded() } == ["200"] + DialogScript.over)
        #expect(script.act { $0.byeAnswered() } == [])
    }

    @Test func silenceEndsTheCall() {
        var script = DialogScript.up()
        #expect(script.act { $0.mediaTimedOut() } == ["report ended 702 rtp_timeout"] + DialogScript.leaving)
        #expect(script.act { $0.mediaTimedOut() } == [])
    }

    @Test func theDrainEndsWhatIsLeft() {
        var script = DialogScript.up()
        #expect(
            script.act { $0.abandoned(.bridgeStopped) } == ["report ended 702 bridge_stopped"] + DialogScript.leaving)
        #expect(script.act { $0.abandoned(.bridgeStopped) } == [])
        script = .ringing()
        #expect(
            script.act { $0.abandoned(.bridgeStopped) }
                == ["report failed 702 bridge_stopped", "no ring", "CANCEL", "cancelled in 32000"])
        script = .claiming()
        #expect(script.act { $0.abandoned(.bridgeStopped) } == ["report failed 702 bridge_stopped"] + DialogScript.over)
    }
}
