import GatewayLogic
import SignalingProtocol
import SignalingWire
import Testing

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
            guard case .perform(talk.turn(id, .message), _)? = actions.first, actions.count == 1 else {
                Issue.record("\(actions)")
                return
            }
        }
        #expect(try talk.calls("user_query_user_status", 3, #""account":"bob""#) == [])
        #expect(talk.tell(.messageAnswered(talk.turn(1, .message), nil, channel: nil)) == [Talk.ok(1)])
        #expect(talk.tell(.messageAnswered(talk.turn(2, .message), nil, channel: nil)) == [Talk.ok(2), .goOn])
        guard case .perform(talk.turn(3), _)? = talk.tell(.goOn).first else {
            Issue.record("the act does not start")
            return
        }
        let body = ReplyBody.userStatus(try Account("bob"), online: true)
        #expect(talk.tell(.answered(talk.turn(3), .success(body))) == [Talk.ok(3, body)])
    }

    @Test func anOverdueCallIsNotStarted() throws {
        let talk = try active()
        _ = try talk.calls("user_sendmsg", 1, Self.toBob)
        let first = talk.turn(1, .message)
        _ = try talk.calls("channel_query_num", 2, #""name":"room""#)
        talk.clock.uptime += talk.clock.callTimeout
        _ = talk.tell(.messageAnswered(first, nil, channel: nil))
        #expect(talk.tell(.goOn) == [.count(.overdue)] + Talk.failed(2, .timeout(.userNumberTimeout)))
    }

    @Test func refusalsAreCountedAndPresenceIsAsked() throws {
        let talk = try active()
        for (reason, extra) in [
            (SignalingReason.mailboxFull, SessionAction.count(.mailboxFull)), (.memoryFull, .count(.memoryFull)),
            (.sessionOver, .askWhoseSession(Talk.session)),
        ] {
            let error = SignalingError(.messageOther, reason, "x")
            _ = try talk.calls("user_sendmsg", 1, Self.toBob)
            #expect(
                talk.tell(.messageAnswered(talk.turn(1, .message), error, channel: nil))
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
            talk.tell(.messageAnswered(talk.turn(1, .message), error, channel: room))
                == [.askWhoseSession(Talk.session)] + Talk.failed(1, .unavailable("redis")))
    }

    @Test func tooManyUnansweredCallsEndTheConnection() throws {
        let talk = try active()
        for _ in 0...CallPipeline.bound { #expect(try talk.calls("user_logout").last != .close(.tooMuch)) }
        let actions = try talk.calls("user_logout")
        #expect(actions.first == .count(.tooManyCalls))
        #expect(actions.last == .close(.tooMuch))
        #expect(actions.contains(.detach(Talk.session, talk.user)), "the session can be resumed")
    }

    @Test func clientsMayNotSpeakInSpecialChannels() throws {
        let talk = try active()
        let send = try talk.calls("channel_sendmsg", 1, #""name":"_special_dummy","msg":"hi""#)
        let join = try talk.calls("channel_join", 2, #""name":"_special_dummy""#)
        guard try ChannelName("_special_dummy").special != nil else { return }
        #expect(send.first == .count(.specialChannelRefused))
        #expect(join.first == .subscribe(try talk.channel("_special_dummy")))
    }

    // MARK: - Writability

    @Test func noCallStartsWhileTheClientDoesNotRead() throws {
        let talk = try active()
        #expect(talk.tell(.output(isPaused: true)) == [.count(.readingPaused), .setReading(false)])
        #expect(try talk.calls("user_sendmsg", 1, Self.toBob) == [])
        #expect(talk.tell(.output(isPaused: false)) == [.setReading(true), .goOn])
        guard case .perform? = talk.tell(.goOn).first else {
            Issue.record("the message does not start")
            return
        }
    }

    @Test func pushesWaitForTheClientInTheirOrder() throws {
        let talk = try active(push: true)
        let push = { Talk.send(ServerFrame.pushMessage(Conversation.entry($0))) }
        #expect(talk.tell(.mail(Talk.entry(1), after: 0)) == [push(1)])
        _ = talk.tell(.output(isPaused: true))
        #expect(talk.tell(.mail(Talk.entry(2), after: 1)) == [])
        #expect(talk.tell(.mail(Talk.entry(3), after: 2)) == [])
        _ = talk.tell(.output(isPaused: false))
        #expect(talk.tell(.goOn) == [push(2)])
        #expect(talk.tell(.goOn) == [push(3)])
        #expect(!talk.canGoOn)
    }

    // MARK: - The mailbox

    private static let poll = #""ver_clear":0,"limit":30"#

    @Test func aPollIsAnsweredFromTheWindow() throws {
        let talk = try active()
        #expect(
            talk.tell(.mail(Talk.entry(1), after: 0)) == [Talk.send(ServerFrame.notifyMessage(version: 1))])
        let answer = ReplyBody.mailbox(cleared: 0, entries: [Talk.entry(1)])
        #expect(try talk.calls("user_getmsg", 1, Self.poll) == [Talk.ok(1, answer)])
        #expect(
            try talk.calls("user_getmsg", 2, #""ver_clear":1,"limit":30"#) == [
                .clearMailbox(through: 1), Talk.ok(2, .mailbox(cleared: 1, entries: [])),
            ])
    }

    @Test func aPollThatRedisDoesNotAnswer() throws {
        let talk = try active()
        _ = talk.tell(.resynchronizeMailbox)
        #expect(try talk.calls("user_getmsg", 1, Self.poll) == [.startPollTimer(milliseconds: 8000)])
        #expect(talk.tell(.mailboxLoaded(.failure(.unavailable("redis")))) == [.loadMailboxLater])
        #expect(talk.tell(.pollTimerFired) == [.count(.overdue), Talk.ok(1, .mailbox(cleared: 0, entries: []))])
        // The poll was answered without messages, so the client must be notified if there are some after all.
        #expect(talk.tell(.mailboxLoadDue) == [.loadMailbox(after: 0, fresh: false)])
        #expect(
            talk.tell(.mailboxLoaded(.success(Talk.page([1])))).contains(
                Talk.send(ServerFrame.notifyMessage(version: 1))))
    }

    @Test func aPollThatRedisAnswersLate() throws {
        let talk = try active()
        _ = talk.tell(.resynchronizeMailbox)
        _ = try talk.calls("user_getmsg", 1, Self.poll)
        let answer = ReplyBody.mailbox(cleared: 0, entries: [Talk.entry(1)])
        #expect(talk.tell(.mailboxLoaded(.success(Talk.page([1])))) == [.cancelPollTimer, Talk.ok(1, answer)])
    }

    @Test func tooManyPollsWait() throws {
        let talk = try Conversation()
        var rates = SessionRates()
        rates.answered(bytes: 1000 * Limits.answerBytesPerAct, isPoll: true)
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false))))
        _ = talk.tell(.ratesTaken(rates))
        _ = talk.tell(.mailboxLoaded(.success(Talk.page([]))))
        let actions = try talk.calls("user_getmsg", 1, Self.poll)
        #expect(actions.first == .count(.pollDelayed))
        #expect(talk.tell(.pollTimerFired) == [Talk.ok(1, .mailbox(cleared: 0, entries: []))])
    }

    @Test func aPollEndsWithItsConnection() throws {
        let talk = try active()
        _ = talk.tell(.resynchronizeMailbox)
        _ = try talk.calls("user_getmsg", 1, Self.poll)
        #expect(talk.tell(.connectionLost).contains(.cancelPollTimer))
        #expect(talk.tell(.pollTimerFired) == [])
        #expect(talk.tell(.mailboxLoaded(.success(Talk.page([1])))) == [])
    }
}
