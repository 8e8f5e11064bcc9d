import BusProtocol
import SIPBridgeLogic
import SignalingProtocol
import Testing

/// re-INVITE, UPDATE and session timers in an established call.
@Suite struct DialogSessionTests {
    // MARK: Session timers

    @Test func theAnswerSaysWhoRefreshes() {
        var script = DialogScript.ringing()
        _ = script.final(200, .timer("1800;refresher=uac"))
        #expect(
            script.taken() == ["start media", "report accepted (200)", "refresh in 900000", "expiry in 1768000"])
        script = .ringing()
        _ = script.final(200, .timer("1800;refresher=uas"))
        #expect(script.taken().suffix(2) == ["no refresh", "expiry in 1768000"])
        // The 2xx should have named the refresher; refreshing ourselves is safe in any case.
        script = .ringing()
        _ = script.final(200, .timer("1800"))
        #expect(script.taken().suffix(2) == ["refresh in 900000", "expiry in 1768000"])
    }

    @Test func aShortSessionEndsAThirdEarly() {
        var script = DialogScript.ringing()
        // A third of 90 s is 30 s, less than 32 s, so that the session expires 30 s early.
        _ = script.final(200, .timer("90;refresher=uas"))
        #expect(script.taken().last == "expiry in 60000")
    }

    @Test func aRefreshIsAnUpdateWhereThePeerTakesIt() {
        var script = DialogScript.up(.timer("1800;refresher=uac"))
        #expect(script.fired(.refresh) == ["UPDATE Session-Expires: 1800;refresher=uac"])
        #expect(script.fired(.refresh) == [])
        #expect(
            script.refreshed(200, .timer("1800;refresher=uac")) == ["refresh in 900000", "expiry in 1768000"])
        #expect(script.fired(.refresh).first?.hasPrefix("UPDATE") == true)
    }

    @Test func aRefreshIsAReinviteWhereItDoesNot() {
        var script = DialogScript.up(.timer("1800;refresher=uac"), allow: "INVITE, BYE")
        #expect(script.fired(.refresh) == ["re-INVITE Session-Expires: 1800;refresher=uac"])
        #expect(
            script.refreshed(200, .timer("1800;refresher=uac"))
                == ["ACK peer", "take description", "refresh in 900000", "expiry in 1768000"])
        #expect(script.taken() == [])
    }

    @Test func anUpdateThatIsNotKnownBecomesAReinvite() {
        var script = DialogScript.up(.timer("1800;refresher=uac"))
        _ = script.fired(.refresh)
        #expect(script.refreshed(405) == ["re-INVITE Session-Expires: 1800;refresher=uac"])
    }

    @Test func aRefreshMayBeToldToTakeALongerInterval() {
        var script = DialogScript.up(.timer("90;refresher=uac"))
        _ = script.fired(.refresh)
        #expect(
            script.refreshed(422, .timer(nil, minimum: "300"))
                == ["UPDATE Session-Expires: 300;refresher=uac Min-SE: 300"])
    }

    @Test func aTimerThatTheAnswerNoLongerMentionsEnds() {
        var script = DialogScript.up(.timer("1800;refresher=uac"))
        _ = script.fired(.refresh)
        #expect(script.refreshed(200) == ["no refresh", "no expiry"])
    }

    @Test func theRolesMayChangeWithARefresh() {
        var script = DialogScript.up(.timer("1800;refresher=uac"))
        _ = script.fired(.refresh)
        #expect(script.refreshed(200, .timer("1800;refresher=uas")) == ["no refresh", "expiry in 1768000"])
    }

    @Test func aSessionThatNobodyRefreshesEnds() {
        for expires in ["1800;refresher=uac", "1800;refresher=uas"] {
            var script = DialogScript.up(.timer(expires))
            #expect(script.fired(.expiry) == ["report ended 702 session_expired"] + DialogScript.leaving)
        }
    }

    @Test func aFailedRefreshIsTriedAgainUnlessTheDialogIsGone() {
        var script = DialogScript.up(.timer("1800;refresher=uac"))
        _ = script.fired(.refresh)
        #expect(script.refreshed(503) == ["refresh in 450000"])
        _ = script.fired(.refresh)
        #expect(script.refreshed(481) == ["report ended 702 dialog_lost (481)"] + DialogScript.leaving)
        script = .up(.timer("1800;refresher=uac"))
        _ = script.fired(.refresh)
        #expect(
            script.act { $0.refreshFailed(.timedOut) } == ["report ended 702 session_expired"] + DialogScript.leaving)
    }

    @Test func thePeersRefreshStartsTheTimeAnew() {
        var script = DialogScript.up(.timer("1800;refresher=uas"))
        #expect(
            script.offered(.update, hasDescription: false, .timer("1800;refresher=uac")) == [
                "200 Session-Expires: 1800;refresher=uac Require: timer", "no refresh", "expiry in 1768000",
            ])
        #expect(
            script.offered(.update, hasDescription: false, .timer("1800;refresher=uas")) == [
                "200 Session-Expires: 1800;refresher=uas", "refresh in 900000", "expiry in 1768000",
            ])
        #expect(script.offered(.update, hasDescription: false, .timer("89")) == ["422 Min-SE: 90"])
    }

    @Test func whoAnswersDecidesTheRoleThatWasLeftOpen() {
        let cases: [(SessionTimerFields, String)] = [
            (.timer("600"), " Session-Expires: 600;refresher=uac Require: timer"),
            (.timer("600;refresher=uas"), " Session-Expires: 600;refresher=uas"),
            (.timer(nil), " Session-Expires: 1800;refresher=uac Require: timer"),
            (.timer(nil, minimum: "3600"), " Session-Expires: 3600;refresher=uac Require: timer"),
            // A peer without session timers cannot refresh the session, and would not understand a 422.
            (.timer(nil, supported: false), " Session-Expires: 1800;refresher=uas"),
            (.timer("30", supported: false), " Session-Expires: 90;refresher=uas"),
        ]
        for (terms, headers) in cases {
            var script = DialogScript.alerting(terms)
            #expect(script.order(.accept).first == "invite: 200 with description" + headers)
        }
    }

    @Test func headersAreRead() {
        let terms = SessionTimerFields(
            sessionExpires: " 120 ; Refresher = UAS ;x=y", minimum: "90;a=b", supported: "100rel, Timer",
            allow: "INVITE,ACK , update")
        #expect(terms.interval == .seconds(120))
        #expect(terms.refresher == .uas)
        #expect(terms.minimum == .seconds(90))
        #expect(terms.supportsTimer)
        #expect(terms.allowsUpdate == true)
        let nonsense = SessionTimerFields(
            sessionExpires: "-1;refresher=me", minimum: "99999999999", supported: "", allow: "")
        #expect(nonsense.interval == nil && nonsense.refresher == nil && nonsense.minimum == nil)
        #expect(!nonsense.supportsTimer && nonsense.allowsUpdate == false)
    }

    // MARK: The peer's offers

    @Test func aReinviteIsAnsweredUntilItIsAcknowledged() {
        var script = DialogScript.up()
        #expect(
            script.offered(.reinvite, .timer("1800"))
                == ["answer reinvite Session-Expires: 1800;refresher=uac Require: timer"])
        #expect(
            script.act { $0.offerAnswered(true) } == [
                "retransmission in 500", "acknowledgement in 32000", "no refresh", "expiry in 1768000",
            ])
        #expect(script.fired(.retransmission) == ["200 again", "retransmission in 1000"])
        #expect(script.act { $0.acknowledged() } == ["no retransmission", "no acknowledgement"])
        #expect(script.fired(.retransmission) == [])
    }

    @Test func anUnacceptableOfferLeavesTheCallUp() {
        var script = DialogScript.up()
        _ = script.offered(.reinvite)
        #expect(script.act { $0.offerAnswered(false) } == [])
        #expect(script.machine.isUp)
        #expect(script.offered(.update).first?.hasPrefix("answer update") == true)
    }

    @Test func aReinviteWithoutOfferGetsOurs() {
        var script = DialogScript.up()
        #expect(
            script.offered(.reinvite, hasDescription: false).first?.hasPrefix("answer reinvite without offer") == true)
        _ = script.act { $0.offerAnswered(true) }
        // Our own offer stays unanswered until the ACK.
        #expect(script.offered(.update) == ["491"])
        #expect(script.act { $0.acknowledged() }.last == "take description")
        #expect(script.taken() == [])
        _ = script.offered(.reinvite, hasDescription: false)
        _ = script.act { $0.offerAnswered(true) }
        _ = script.act { $0.acknowledged() }
        #expect(script.taken(false) == ["report ended 700 unusable_media"] + DialogScript.leaving)
    }

    @Test func aReinviteThatIsNeverAcknowledgedEndsTheCall() {
        var script = DialogScript.up()
        _ = script.offered(.reinvite)
        _ = script.act { $0.offerAnswered(true) }
        #expect(script.fired(.acknowledgement) == ["report ended 702 unacknowledged"] + DialogScript.leaving)
    }

    @Test func aNewReinviteEndsTheWaitForTheLastAcknowledgement() {
        var script = DialogScript.up()
        _ = script.offered(.reinvite)
        _ = script.act { $0.offerAnswered(true) }
        #expect(script.offered(.reinvite).prefix(2) == ["no retransmission", "no acknowledgement"])
    }

    // MARK: Glare

    @Test func anOfferThatMeetsOursIsRefused() {
        var script = DialogScript.up(.timer("1800;refresher=uac"), allow: "INVITE")
        _ = script.fired(.refresh)
        #expect(script.offered(.reinvite) == ["491"])
        #expect(script.offered(.update) == ["491"])
        #expect(script.offered(.update, hasDescription: false).first?.hasPrefix("200") == true)
    }

    @Test func aRefusedOfferIsTriedAgainAfterARandomTime() {
        var caller = DialogScript.up(.timer("1800;refresher=uac"), allow: "INVITE")
        _ = caller.fired(.refresh)
        #expect(caller.refreshed(491, dice: 0) == ["glare in 2100"])
        #expect(caller.fired(.glare) == ["re-INVITE Session-Expires: 1800;refresher=uac"])
        #expect(caller.refreshed(491, dice: 190) == ["glare in 4000"])
        var callee = DialogScript.answered(.timer("1800;refresher=uas"))
        _ = callee.fired(.refresh)
        #expect(callee.refreshed(491, dice: 200) == ["glare in 2000"])
        #expect(callee.refreshed(491, dice: 200) == [])
    }

    @Test func anAnswerThatCrossesTheByeIsAcknowledged() {
        var script = DialogScript.up(.timer("1800;refresher=uac"), allow: "INVITE")
        _ = script.fired(.refresh)
        #expect(script.order(.end) == DialogScript.leaving)
        #expect(script.refreshed(200) == ["ACK peer"])
        #expect(script.refreshed(491) == [])
        #expect(script.offered(.reinvite) == ["481"])
    }

    @Test func timersOfAnEndedCallDoNothing() {
        var script = DialogScript.up(.timer("1800;refresher=uac"))
        _ = script.act { $0.peerEnded() }
        for timer in DialogTimer.allCases where timer != .linger { #expect(script.fired(timer) == []) }
    }
}
