import BusProtocol
import Pacing
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct SessionRatesTests {
    private static func act(_ function: String, _ arguments: String = "") throws -> ClientCall.Act {
        let text = #"["call2",["\#(function)",1,{"line":"l"\#(arguments)}]]"#
        guard case .call(let request) = try ClientFrame(decoding: Array(text.utf8), line: "l") else {
            throw SignalingError(.failed, .busy, "no call")
        }
        return try request.call.get().act
    }

    private static func admitted(
        _ rates: inout SessionRates, _ act: ClientCall.Act, now: LocalTime = 0, of tries: Int = 2000
    ) -> Int {
        (0..<tries).count { _ in rates.refusal(of: act, now: now) == nil }
    }

    @Test(arguments: [
        ("channel_join", #","name":"c""#), ("channel_leave", #","name":"c""#), ("channel_query_num", #","name":"c""#),
        ("user_get_attr_all", #","account":"a""#), ("user_query_user_status", #","account":"a""#),
        ("channel_query_userlist_all", #","name":"c""#),
        ("voip_invite", #","channelName":"c","peer":"p","extra":"{}""#),
    ])
    func otherActsShareABound(function: String, arguments: String) throws {
        var rates = SessionRates()
        let act = try Self.act(function, arguments)
        #expect(Self.admitted(&rates, act) == Limits.actsBurst)
        #expect(Self.admitted(&rates, try Self.act("channel_query_num", #","name":"c""#)) == 0)
        #expect(Self.admitted(&rates, act, now: 1000) == Limits.actsPerSecond)
        let refusal = rates.refusal(of: act, now: 1000)
        #expect(refusal?.reason == .rateLimited)
        #expect(refusal?.message.contains("\(Limits.actsPerSecond)") == true)
    }

    @Test func attributeChangesAreCountedApart() throws {
        var rates = SessionRates()
        let own = try Self.act("user_set_attr", #","name":"n","value":"v""#)
        let channels = try Self.act("channel_set_attr", #","channel":"c","name":"n","value":"v""#)
        #expect(Self.admitted(&rates, own, of: 60) == 60)
        #expect(Self.admitted(&rates, channels) == Limits.attributeChangesBurst - 60)
        #expect(Self.admitted(&rates, channels, now: 1000) == Limits.attributeChangesPerSecond)
        #expect(rates.refusal(of: channels, now: 1000)?.code == .failed)
        #expect(Self.admitted(&rates, try Self.act("channel_leave", #","name":"c""#)) == Limits.actsBurst)
    }

    @Test func messagesHaveTheirOwnBounds() throws {
        var rates = SessionRates()
        let channel = try Self.act("channel_sendmsg", #","name":"c","msg":"m""#)
        #expect(Self.admitted(&rates, channel) == Limits.messagesPerSecond)
        #expect(rates.refusal(of: channel, now: 0)?.code == .messageOther)
    }

    @Test func logoutsAndPollsAreNeverRefused() throws {
        var rates = SessionRates()
        #expect(Self.admitted(&rates, try Self.act("user_logout")) == 2000)
        #expect(Self.admitted(&rates, try Self.act("user_getmsg", #","ver_clear":0,"max":30"#)) == 2000)
        #expect((0..<Limits.pollsBurst).allSatisfy { _ in rates.pollDelay(now: 0) == .zero })
        #expect(rates.pollDelay(now: 0) == .milliseconds(5))
    }

    @Test func aLargeAnswerCountsAsSeveralActs() throws {
        var rates = SessionRates()
        let act = try Self.act("user_get_attr_all", #","account":"a""#)
        rates.answered(bytes: Limits.answerBytesPerAct - 1, isPoll: false)
        rates.answered(bytes: 40 * Limits.answerBytesPerAct, isPoll: false)
        #expect(Self.admitted(&rates, act) == Limits.actsBurst - 40)
        // An answer that exceeds the allowance delays the acts after it.
        rates.answered(bytes: (Limits.actsPerSecond + 1) * Limits.answerBytesPerAct, isPoll: false)
        #expect(Self.admitted(&rates, act, now: 1000) == 0)
        #expect(Self.admitted(&rates, act, now: 2000) == Limits.actsPerSecond - 1)
        #expect(rates.pollDelay(now: 2000) == .zero)
    }

    @Test func aLargePageCountsAsSeveralPolls() throws {
        var rates = SessionRates()
        rates.answered(bytes: Limits.pollsBurst * Limits.answerBytesPerAct, isPoll: true)
        #expect(rates.pollDelay(now: 0) == .milliseconds(5))
        #expect(Self.admitted(&rates, try Self.act("channel_query_num", #","name":"c""#)) == Limits.actsBurst)
    }

    @Test func aResumeGivesNoBurst() throws {
        var rates = SessionRates(isResumed: true)
        let act = try Self.act("channel_query_num", #","name":"c""#)
        #expect(Self.admitted(&rates, act) == Limits.actsPerSecond)
        #expect((0..<Limits.pollsPerSecond).allSatisfy { _ in rates.pollDelay(now: 0) == .zero })
        #expect(rates.pollDelay(now: 0) == .milliseconds(5))
    }

    @Test func anAppsLimitsHold() throws {
        var limits = AppLimits()
        limits.actsPerSecond = AppLimit.unlimited
        var rates = SessionRates()
        let act = try Self.act("channel_query_num", #","name":"c""#)
        rates.adopt(limits)
        #expect(Self.admitted(&rates, act, of: 100_000) == 100_000)
        #expect((0..<100_000).allSatisfy { _ in rates.pollDelay(now: 0) == .zero })
    }

    @Test func aSessionThatComesBackGoesOnWithItsRates() throws {
        var left = DetachedRates()
        var rates = SessionRates()
        let act = try Self.act("channel_query_num", #","name":"c""#)
        #expect(Self.admitted(&rates, act) == Limits.actsBurst)
        left.keep(rates, of: SessionID("s"), now: 1)
        let kept = left.take(SessionID("s"))
        var back = try #require(kept)
        #expect(Self.admitted(&back, act) == 0)
        #expect(left.take(SessionID("s")) == nil)
    }

    @Test func oldRatesAreForgotten() {
        var left = DetachedRates()
        left.keep(SessionRates(), of: SessionID("old"), now: 1)
        left.keep(SessionRates(), of: SessionID("new"), now: 20_000)
        #expect(left.take(SessionID("old")) == nil)
        #expect(left.take(SessionID("new")) != nil)
    }

    @Test func anAppsLimitOfMessagesHoldsForBothKinds() throws {
        var limits = AppLimits()
        limits.messagesPerSecond = 5
        var rates = SessionRates()
        rates.adopt(limits)
        #expect(Self.admitted(&rates, try Self.act("channel_sendmsg", #","name":"c","msg":"m""#)) == 5)
        #expect(Self.admitted(&rates, try Self.act("user_sendmsg", #","peer":"p","content":"m""#)) == 5)
    }

    @Test func theNumberOfRememberedSessionsIsBounded() {
        var left = DetachedRates()
        for number in 0...DetachedRates.bound { left.keep(SessionRates(), of: SessionID("s\(number)"), now: 1) }
        #expect(left.take(SessionID("s0")) == nil)
        #expect(left.take(SessionID("s\(DetachedRates.bound)")) != nil)
    }
}
