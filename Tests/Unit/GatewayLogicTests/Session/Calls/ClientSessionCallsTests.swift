import BusProtocol
import Pacing
import SignalingProtocol
import SignalingWire
import TestKit
import Testing

@testable import GatewayLogic

/// Whole conversations: calls, messages and the mailbox.
@Suite struct ClientSessionCallsTests {
    private typealias Talk = Conversation

    private static let toBob = #""peer":"bob","content":"hello""#

    private func active(push: Bool = false) throws -> Conversation {
        let talk = try Conversation()
        try talk.logIn(push: push)
        return talk
    }

    @Test func aCallBeforeTheLogin() throws {
        let talk = try Conversation()
        let actions = try talk.says(#"["call2",["user_logout",1,{"line":"x"}]]"#)
        let error = SignalingError(.notLoggedIn, .notLoggedIn, "log in before calling functions")
        #expect(actions == [Talk.send(ServerFrame.callFailed(id: "1", error))])
    }

    @Test func aCallOnAnotherLine() throws {
        let talk = try active()
        let actions = try talk.says(#"["call2",["user_get_attr_all",1,{"line":"x","account":"bob"}]]"#)
        let error = SignalingError(.notLoggedIn, .badLine, "the line is not that of this connection's session")
        #expect(actions == Talk.failed(1, error))
    }

    @Test func messagesOverlapAndAnActWaits() throws {
        let talk = try active()
        for id in 1...2 {
            let actions = try talk.calls("user_sendmsg", id, Self.toBob)
            let ticket = talk.messageTicket(id, number: Int32(id - 1))
            guard case .sendMessage(let call, _)? = actions.first, call.ticket == ticket, actions.count == 1 else {
                Issue.record("\(actions)")
                return
            }
        }
        #expect(try talk.calls("user_query_user_status", 3, #""account":"bob""#) == [])
        #expect(talk.tell(.messageAnswered(talk.messageTicket(1), nil, channel: nil)) == [Talk.ok(1)])
        #expect(talk.tell(.messageAnswered(talk.messageTicket(2, number: 1), nil, channel: nil)) == [Talk.ok(2)])
        #expect(talk.hasNextTurn)
        guard case .askService(let call, _)? = talk.tell(.nextTurn).first, call.ticket == talk.ticket(3) else {
            Issue.record("the act does not start")
            return
        }
        let body = ReplyBody.userStatus(try Account("bob"), online: true)
        #expect(talk.tell(.answered(talk.ticket(3), .success(body))) == [Talk.ok(3, body)])
    }

    /// The user and the limits come with the call, so that the driver needs nothing else to execute it.
    @Test(arguments: [
        ("user_sendmsg", toBob, CallBounds(mailbox: limits)),
        ("channel_sendmsg", #""name":"room","msg":"hi""#, CallBounds(channelPerSecond: 3)),
        ("channel_clear_attr", #""channel":"room""#, CallBounds(channelPerSecond: 4)),
        ("channel_query_num", #""name":"room""#, CallBounds()),
    ])
    func aCallNamesItsSessionAndTheLimitsOfItsApp(function: String, arguments: String, bounds: CallBounds) throws {
        let talk = try active()
        _ = talk.tell(.session(.limits(Self.limits)))
        let call: StartedCall
        switch try talk.calls(function, 1, arguments).first {
        case .sendMessage(let started, _)?, .askService(let started, _)?: call = started
        default:
            Issue.record("the call does not start")
            return
        }
        #expect(call.session == (try talk.owner) && call.session.actor.uid == 7 && call.session.user == talk.user)
        #expect(call.bounds == bounds)
    }

    private static let limits = {
        var limits = AppLimits()
        limits.mailboxEntries = 200
        limits.mailboxBytes = 1 << 30
        limits.channelMessagesPerSecond = 3
        limits.channelAttributeChangesPerSecond = 4
        return limits
    }()

    @Test func theLimitsOfAMessageAreThoseOfItsApp() {
        let bounds = CallBounds(mailbox: Self.limits)
        #expect(bounds.mailboxEntries == 200 && bounds.mailboxBytes == 1 << 30 && bounds.channelPerSecond == 0)
    }

    @Test func anActionIsSmallEnoughToBeCopiedInline() { #expect(MemoryLayout<SessionAction>.size <= 128) }

    @Test func aCallThatIsStartedWithoutASessionIsLoggedAndAnswered() throws {
        let talk = try Conversation()
        var actions = SessionActions()
        let queued = QueuedCall(ticket: talk.ticket(), call: .failure(.timeout()), bytes: 0)
        talk.session.start(queued, isNew: true, talk.clock, &actions)
        #expect(
            actions.all
                == [.logError("a call was started without a session")] + Talk.failed(1, .unavailable("the session")))
    }

    @Test func aPollThatIsStartedBeforeTheMailboxIsLoggedAndAnswered() throws {
        let talk = try Conversation()
        var actions = SessionActions()
        talk.session.startPoll(MailboxPoll(ticket: talk.ticket(), verClear: 0, limit: 30), talk.clock, &actions)
        #expect(
            actions.all
                == [.logError("a poll was started before the mailbox")] + Talk.failed(1, .unavailable("the session")))
    }

    @Test func anOverdueCallIsNotStarted() throws {
        let talk = try active()
        _ = try talk.calls("user_sendmsg", 1, Self.toBob)
        let first = talk.messageTicket(1)
        _ = try talk.calls("channel_query_num", 2, #""name":"room""#)
        talk.clock.localTime = talk.clock.localTime + talk.clock.callTimeout
        _ = talk.tell(.messageAnswered(first, nil, channel: nil))
        #expect(talk.tell(.nextTurn) == [.count(.overdue)] + Talk.failed(2, .timeout(.userNumberTimeout)))
    }

    @Test func refusalsAreCountedAndPresenceIsAsked() throws {
        let talk = try active()
        for (number, (reason, extra)) in [
            (SignalingReason.mailboxFull, SessionAction.count(.mailboxFull)), (.memoryFull, .count(.memoryFull)),
            (.sessionOver, .session(.askWhoseSession(Talk.session))),
        ].enumerated() {
            let error = SignalingError(.messageOther, reason, "x")
            _ = try talk.calls("user_sendmsg", 1, Self.toBob)
            #expect(
                talk.tell(.messageAnswered(talk.messageTicket(1, number: Int32(number)), error, channel: nil))
                    == [extra] + Talk.failed(1, error))
        }
    }

    @Test func aMemberThatRedisForgotIsToldToTryAgain() throws {
        let talk = try active()
        try talk.join("room")
        let room = try ChannelName("room")
        let error = SignalingError(.messageOther, .notMember, "x")
        _ = try talk.calls("channel_sendmsg", 1, #""name":"room","msg":"hi""#)
        #expect(
            talk.tell(.messageAnswered(talk.messageTicket(1), error, channel: room))
                == [.session(.askWhoseSession(Talk.session))] + Talk.failed(1, .unavailable("redis")))
    }

    @Test func otherFailuresOfAMessageAreToldAsTheyAre() throws {
        let talk = try active()
        try talk.join("room")
        let (room, other) = (try ChannelName("room"), try ChannelName("other"))
        let notMember = SignalingError(.messageOther, .notMember, "x")
        let full = SignalingError(.messageOther, .busy, "x")
        var number: Int32 = 0
        func answer(_ error: SignalingError, in name: ChannelName) throws -> [SessionAction] {
            defer { number += 1 }
            _ = try talk.calls("channel_sendmsg", 1, #""name":"room","msg":"hi""#)
            return talk.tell(.messageAnswered(talk.messageTicket(1, number: number), error, channel: name))
        }
        #expect(try answer(full, in: room) == Talk.failed(1, full))
        #expect(try answer(notMember, in: other) == Talk.failed(1, notMember))
        _ = try talk.calls("channel_leave", 2, #""name":"room""#)
        _ = talk.tell(.channel(.left(talk.ticket(2), .timeout())))
        #expect(try answer(notMember, in: room) == Talk.failed(1, notMember), "it may have left")
    }

    @Test func tooManyUnansweredCallsEndTheConnection() throws {
        let talk = try active()
        for _ in 0...CallPipeline.bound { #expect(try talk.calls("user_logout").last != .close(.tooMuch)) }
        let actions = try talk.calls("user_logout")
        #expect(actions.first == .count(.tooManyCalls))
        #expect(actions.last == .close(.tooMuch))
        #expect(actions.contains(.session(.detach(Talk.session, talk.user))), "the session can be resumed")
    }

    private static let special = #""name":"_agora_user_online""#
    private static let closed = SignalingError(
        .joinOther, .specialChannel, "the app does not let clients join this channel")

    @Test func clientsMayNotSpeakInSpecialChannels() throws {
        let talk = try active()
        let error = SignalingError(.wrongParameter, .specialChannel, "only the system may send to this channel")
        #expect(
            try talk.calls("channel_sendmsg", 1, Self.special + #","msg":"hi""#)
                == [.count(.specialChannelRefused)] + Talk.failed(1, error))
        #expect(
            try talk.calls("channel_join", 2, Self.special) == [
                .request(.subscribe(try talk.channel("_agora_user_online")))
            ])
    }

    @Test func anAppMayCloseItsSpecialChannels() throws {
        let talk = try active()
        var limits = AppLimits()
        limits.specialChannelsOpen = false
        _ = talk.tell(.session(.limits(limits)))
        #expect(
            try talk.calls("channel_join", 1, Self.special)
                == [.count(.specialChannelRefused)] + Talk.failed(1, Self.closed))
    }

    /// - Parameter isRemembered: whether an older connection here has left the session's rates, under the app's limits.
    @Test(arguments: [false, true])
    func specialChannelsAreClosedWhileTheAppsLimitsAreUnknown(isRemembered: Bool) throws {
        let talk = try Conversation()
        var left = SessionRates()
        left.adopt(AppLimits())
        try talk.resume(rates: isRemembered ? left : nil)
        #expect(
            try talk.calls("channel_join", 1, Self.special)
                == [.count(.specialChannelRefused)] + Talk.failed(1, Self.closed))
        _ = talk.tell(.session(.limits(AppLimits())))
        #expect(
            try talk.calls("channel_join", 2, Self.special) == [
                .request(.subscribe(try talk.channel("_agora_user_online")))
            ])
    }

    // MARK: - Rates

    @Test func whatIsTooMuchIsRefusedAndCountedByItsKind() throws {
        let talk = try active()
        for id in 1...Limits.messagesPerSecond { _ = try talk.calls("user_sendmsg", id, Self.toBob) }
        #expect(try talk.calls("user_sendmsg", 1, Self.toBob).first == .count(.messageLimited))
        let status = #""account":"bob""#
        for id in 1...Limits.actsBurst {
            #expect(try talk.calls("user_query_user_status", id, status).contains(.count(.actLimited)) == false)
        }
        #expect(try talk.calls("user_query_user_status", 1, status).first == .count(.actLimited))
        talk.clock.localTime = talk.clock.localTime + LocalTime.Span(.milliseconds(1))
        #expect(try talk.calls("user_query_user_status", 1, status).first == .count(.actLimited), "1 ms gives nothing")
    }

    @Test func aLargeMailboxAnswerCountsAsPollsNotAsActs() throws {
        let talk = try active()
        let line = String(repeating: "x", count: 3 * Limits.answerBytesPerAct)
        _ = talk.tell(.mailbox(.published(MailboxEntry(version: 1, expiresAt: 1_000_000, line: line), after: 0)))
        #expect(try talk.calls("user_getmsg", 1, Self.poll).count == 1)
        var rates = talk.session.rates
        let act = ClientCall.Act.service(.presence(.queryStatus(try Account("bob"))))
        #expect((0..<Limits.actsBurst).allSatisfy { _ in rates.refusal(of: act, now: 1000) == nil })
        #expect((0..<Limits.pollsBurst).contains { _ in rates.pollDelay(now: 1000) > .zero })
    }

    // MARK: - Writability

    @Test func noCallStartsWhileTheClientDoesNotRead() throws {
        let talk = try active()
        #expect(talk.tell(.output(isPaused: true)) == [.count(.readingPaused), .setReading(false)])
        #expect(try talk.calls("user_sendmsg", 1, Self.toBob) == [])
        #expect(talk.tell(.output(isPaused: false)) == [.setReading(true)])
        #expect(talk.hasNextTurn)
        guard case .sendMessage? = talk.tell(.nextTurn).first else {
            Issue.record("the message does not start")
            return
        }
    }

    @Test func pushesWaitForTheClientInTheirOrder() throws {
        let talk = try active(push: true)
        let push = { Talk.send(ServerFrame.pushMessage(Conversation.entry($0))) }
        #expect(talk.tell(.mailbox(.published(Talk.entry(1), after: 0))) == [push(1)])
        _ = talk.tell(.output(isPaused: true))
        #expect(talk.tell(.mailbox(.published(Talk.entry(2), after: 1))) == [])
        #expect(talk.tell(.mailbox(.published(Talk.entry(3), after: 2))) == [])
        #expect(talk.tell(.output(isPaused: false)) == [.setReading(true)])
        #expect(talk.hasNextTurn)
        #expect(talk.tell(.nextTurn) == [push(2)])
        #expect(talk.tell(.nextTurn) == [push(3)])
        #expect(!talk.hasNextTurn)
    }

    /// - Parameter isResuming: whether the session's resume is not answered yet, so that all calls wait.
    @Test(arguments: [(false, Limits.waitingCallBytes), (true, Limits.heldCallBytes)])
    func readingStopsWhileTooManyBytesOfCallsWait(isResuming: Bool, bound: Int) throws {
        let talk = try Conversation()
        if isResuming { _ = try talk.says(Talk.lineLogin) } else { try talk.logIn() }
        _ = try talk.calls("user_query_user_status", 1, #""account":"bob""#)
        let text = #"["call2",["user_query_user_status",2,{"line":"\#(Talk.line)","account":"bob"}]]"#
        guard case .call(let request) = try ClientFrame(decoding: Array(text.utf8), line: talk.expectedLine) else {
            Issue.record("no call")
            return
        }
        let waiting = talk.session.calls.waitingBytes
        #expect(talk.tell(.call(request, bytes: bound - waiting - 1, at: talk.clock.localTime)) == [])
        #expect(
            talk.tell(.call(request, bytes: 1, at: talk.clock.localTime)) == [
                .count(.readingPaused), .setReading(false),
            ])
    }

    // MARK: - The mailbox

    @Test func pushesAreSentOneAtATime() throws {
        let talk = try active(push: true)
        _ = talk.tell(.mailbox(.resynchronize))
        let push = { Talk.send(ServerFrame.pushMessage(Conversation.entry($0))) }
        #expect(talk.tell(.mailbox(.loaded(.success(Talk.page([1, 2]))))) == [push(1)])
        #expect(talk.hasNextTurn)
        #expect(talk.tell(.nextTurn) == [push(2)])
        #expect(!talk.hasNextTurn)
    }

    @Test func theMailboxIsReadAgainOnlyIfItsVersionDiffers() throws {
        let talk = try active()
        _ = talk.tell(.mailbox(.published(Talk.entry(1), after: 0)))
        #expect(talk.tell(.mailbox(.latest(1))) == [])
        #expect(try talk.tell(.mailbox(.latest(2))) == [.request(.loadMailbox(talk.owner, after: 1, fresh: false))])
    }

    @Test func aPollWhoseTimeIsOverWaitsForAMillisecondMore() throws {
        let talk = try Conversation()
        var rates = SessionRates()
        rates.answered(bytes: 1000 * Limits.answerBytesPerAct, isPoll: true)
        try talk.resume(rates: rates)
        _ = try talk.calls("user_getmsg", 1, Self.poll)
        talk.clock.localTime = talk.clock.localTime + talk.clock.callTimeout
        #expect(talk.tell(.mailbox(.pollTimerFired)) == [.startPollTimer(after: .milliseconds(1))])
    }

    private static let poll = #""ver_clear":0,"limit":30"#

    @Test func aPollIsAnsweredFromTheWindow() throws {
        let talk = try active()
        #expect(
            talk.tell(.mailbox(.published(Talk.entry(1), after: 0))) == [
                Talk.send(ServerFrame.notifyMessage(version: 1))
            ])
        let answer = ReplyBody.mailbox(cleared: 0, entries: [Talk.entry(1)])
        #expect(try talk.calls("user_getmsg", 1, Self.poll) == [Talk.ok(1, answer)])
        #expect(
            try talk.calls("user_getmsg", 2, #""ver_clear":1,"limit":30"#) == [
                .request(.clearMailbox(talk.owner, through: 1)), Talk.ok(2, .mailbox(cleared: 1, entries: [])),
            ])
    }

    @Test func aPollThatRedisDoesNotAnswer() throws {
        let talk = try active()
        _ = talk.tell(.mailbox(.resynchronize))
        #expect(try talk.calls("user_getmsg", 1, Self.poll) == [.startPollTimer(after: .seconds(8))])
        #expect(talk.tell(.mailbox(.loaded(.failure(.unavailable("redis"))))) == [.request(.loadMailboxLater)])
        #expect(
            talk.tell(.mailbox(.pollTimerFired)) == [.count(.overdue), Talk.ok(1, .mailbox(cleared: 0, entries: []))])
        // The poll was answered without messages, so the client must be notified if there are some after all.
        #expect(try talk.tell(.mailbox(.loadDue)) == [.request(.loadMailbox(talk.owner, after: 0, fresh: false))])
        #expect(
            talk.tell(.mailbox(.loaded(.success(Talk.page([1]))))).contains(
                Talk.send(ServerFrame.notifyMessage(version: 1))))
    }

    @Test func aPollThatRedisAnswersLate() throws {
        let talk = try active()
        _ = talk.tell(.mailbox(.resynchronize))
        _ = try talk.calls("user_getmsg", 1, Self.poll)
        let answer = ReplyBody.mailbox(cleared: 0, entries: [Talk.entry(1)])
        #expect(talk.tell(.mailbox(.loaded(.success(Talk.page([1]))))) == [.cancelPollTimer, Talk.ok(1, answer)])
    }

    @Test func tooManyPollsWait() throws {
        let talk = try Conversation()
        var rates = SessionRates()
        rates.answered(bytes: 1000 * Limits.answerBytesPerAct, isPoll: true)
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false)))))
        _ = talk.tell(.session(.ratesTaken(rates)))
        _ = talk.tell(.mailbox(.loaded(.success(Talk.page([])))))
        let actions = try talk.calls("user_getmsg", 1, Self.poll)
        #expect(actions.first == .count(.pollDelayed))
        #expect(talk.tell(.mailbox(.pollTimerFired)) == [Talk.ok(1, .mailbox(cleared: 0, entries: []))])
    }

    @Test func aPollEndsWithItsConnection() throws {
        let talk = try active()
        _ = talk.tell(.mailbox(.resynchronize))
        _ = try talk.calls("user_getmsg", 1, Self.poll)
        #expect(talk.tell(.connectionLost).contains(.cancelPollTimer))
        #expect(talk.tell(.mailbox(.pollTimerFired)) == [])
        #expect(talk.tell(.mailbox(.loaded(.success(Talk.page([1]))))) == [])
    }
}
