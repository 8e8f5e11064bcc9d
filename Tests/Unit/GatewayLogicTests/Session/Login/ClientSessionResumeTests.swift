import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayLogic

/// Whole conversations: resumes, with what was missed in the channel.
@Suite struct ClientSessionResumeTests {
    private typealias Talk = Conversation

    @Test func aResume() throws {
        let talk = try Conversation()
        let line = try Line(wire: Talk.line)
        #expect(
            try talk.says(Talk.lineLogin)
                == [
                    .raisePace,
                    .request(.resume(ConnectionStateMachine.Session(line: line, device: "", push: false))),
                ])
        #expect(try talk.calls("user_query_user_status", 1, #""account":"bob""#) == [], "held until it is answered")
        #expect(
            talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false))))) == [
                .count(.resume), .raiseOutputBound, .session(.bind(Talk.session)), .session(.takeRates(Talk.session)),
            ])
        #expect(
            talk.tell(.session(.ratesTaken(nil))) == [
                Talk.send(
                    ServerFrame.lineLoginSucceeded(
                        line: Talk.line, uid: 7, push: false, channel: nil, complete: true)),
                .request(.loadMailbox(try talk.owner, after: 0, fresh: false)),
            ])
        #expect(talk.hasNextTurn)
        guard case .askService(let call, let act)? = talk.tell(.nextTurn).first, call.ticket == talk.ticket() else {
            Issue.record("the held call does not start")
            return
        }
        #expect(act == .presence(.queryStatus(try Account("bob"))))
        #expect(!talk.hasNextTurn)
    }

    /// How long it takes until a resume is answered.
    enum Way: CaseIterable {
        case outsideOfChannels, inItsChannel, inItsChannelWithMissedEvents
    }

    @Test(arguments: Way.allCases, [false, true])
    func anEmptyMailboxIsNotRead(_ way: Way, hasNews: Bool) throws {
        let talk = try Conversation()
        let room = try talk.channel("room")
        let after = way == .inItsChannelWithMissedEvents ? #","after":4"# : ""
        _ = try talk.says(#"["line_login",{"line":"\#(Talk.line)"\#(after)}]"#)
        // What is published before presence answers may have come before or after its look into the mailbox.
        if hasNews { _ = talk.tell(.mailbox(.published(Talk.entry(6), after: 5))) }
        var answer = SessionResumed(uid: 7, channel: way == .outsideOfChannels ? nil : room.name, push: false)
        answer.mail = EmptyMailbox(cleared: 3, highest: 5)
        _ = talk.tell(.session(.resumed(.success(answer))))
        var actions = talk.tell(.session(.ratesTaken(nil)))
        if way != .outsideOfChannels {
            actions = talk.tell(.channel(.subscribed(room, true, last: nil, left: nil)))
        }
        if way == .inItsChannelWithMissedEvents { actions = talk.tell(.channel(.logRead(number: 1, nil, last: nil))) }
        #expect(Talk.readMailbox(actions) == hasNews)
        guard !hasNews else { return }
        #expect(
            talk.tell(.mailbox(.published(Talk.entry(6), after: 5))) == [
                Talk.send(ServerFrame.notifyMessage(version: 6))
            ])
    }

    /// A resume shows missed events page by page, pausing while the client does not read, and then the events that
    /// came meanwhile.
    @Test func aResumeInAChannelShowsWhatWasMissed() throws {
        let (talk, room) = try resuming()
        let first = ChannelLogPage(
            events: [try talk.message(5), try talk.message(6)], latest: ChannelPosition(sequence: 8, id: 8),
            complete: true, through: ChannelPosition(sequence: 6, id: 6), more: true)
        #expect(
            talk.tell(.channel(.logRead(number: 1, first, last: nil))) == [
                Talk.send(
                    ServerFrame.lineLoginSucceeded(
                        line: Talk.line, uid: 7, push: false, channel: room.name, complete: true)),
                .request(.loadMailbox(try talk.owner, after: 0, fresh: false)), .channel(.continueIDs(after: 4)),
                .channel(.show([try talk.message(5), try talk.message(6)])),
            ])
        #expect(talk.hasNextTurn)
        #expect(talk.tell(.output(isPaused: true)) == [.count(.readingPaused), .setReading(false)])
        #expect(!talk.hasNextTurn && talk.tell(.nextTurn) == [])
        #expect(talk.tell(.output(isPaused: false)) == [.setReading(true)])
        #expect(talk.hasNextTurn)
        #expect(
            talk.tell(.nextTurn) == [.request(.readLog(room, after: ChannelPosition(sequence: 6, id: 6), number: 2))])
        #expect(talk.tell(.channel(.published([try talk.message(8), try talk.message(9)]))) == [])
        let last = ChannelLogPage(
            events: [try talk.message(7), try talk.message(8)], latest: ChannelPosition(sequence: 8, id: 8),
            complete: true, through: ChannelPosition(sequence: 8, id: 8), more: false)
        #expect(
            talk.tell(.channel(.logRead(number: 2, last, last: nil))) == [
                .channel(.show([try talk.message(7), try talk.message(8)]))
            ])
        #expect(talk.hasNextTurn)
        #expect(
            talk.tell(.nextTurn) == [
                .channel(.advanceFeed(ChannelPosition(sequence: 8, id: 8))), .channel(.showAll(after: 8)),
                .channel(.show([try talk.message(9)])),
            ])
    }

    /// A resume first subscribes, so that no event is missed, and then reads what came before.
    @Test func aResumeInAChannelSubscribesBeforeItReads() throws {
        let talk = try Conversation()
        let room = try talk.channel("room")
        _ = try talk.says(#"["line_login",{"line":"\#(Talk.line)","after":4}]"#)
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: room.name, push: false)))))
        #expect(talk.tell(.session(.ratesTaken(nil))) == [.request(.subscribe(room))])
        #expect(
            talk.tell(.channel(.subscribed(room, true, last: nil, left: nil))) == [
                .channel(.enter(room, as: talk.user.account)),
                .request(.readLog(room, after: ChannelPosition(sequence: 0, id: 4), number: 1)),
            ])
    }

    /// A resume in a channel whose client has seen the event 4, up to the read of the log.
    private func resuming() throws -> (talk: Conversation, room: ChannelKey) {
        let talk = try Conversation()
        let room = try talk.channel("room")
        _ = try talk.says(#"["line_login",{"line":"\#(Talk.line)","after":4}]"#)
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: room.name, push: false)))))
        _ = talk.tell(.session(.ratesTaken(nil)))
        _ = talk.tell(.channel(.subscribed(room, true, last: nil, left: nil)))
        return (talk, room)
    }

    /// The calls that a client sends behind its `line_login` are started after the missed
    /// events are sent, in their order.
    @Test func callsBehindAResumeWaitForWhatWasMissed() throws {
        let (talk, room) = try resuming()
        #expect(try talk.calls("user_query_user_status", 1, #""account":"bob""#) == [])
        #expect(talk.tell(.channel(.published([try talk.message(6)]))) == [])
        let last = ChannelPosition(sequence: 5, id: 5)
        let page = ChannelLogPage(
            events: [try talk.message(5)], latest: last, complete: true, through: last, more: false)
        let actions = talk.tellUntilDone(.channel(.logRead(number: 1, page, last: nil)))
        #expect(
            actions.dropFirst(2).prefix(5) == [
                .channel(.continueIDs(after: 4)), .channel(.show([try talk.message(5)])), .channel(.advanceFeed(last)),
                .channel(.showAll(after: 5)),
                .channel(.show([try talk.message(6)])),
            ])
        guard case .askService(let call, _)? = actions.last, call.ticket == talk.ticket() else {
            Issue.record("\(actions)")
            return
        }
        #expect(talk.session.held?.place.channel == room.name)
    }

    @Test func aResumeWhoseLogCannotBeReadIsIncomplete() throws {
        let (talk, room) = try resuming()
        let last = ChannelPosition(sequence: 6, id: 6)
        #expect(
            talk.tell(.channel(.logRead(number: 1, nil, last: last))) == [
                Talk.send(
                    ServerFrame.lineLoginSucceeded(
                        line: Talk.line, uid: 7, push: false, channel: room.name, complete: false)),
                .request(.loadMailbox(try talk.owner, after: 0, fresh: false)), .channel(.continueIDs(after: 4)),
                .channel(.advanceFeed(last)),
                .channel(.showAll(after: 6)),
            ])
    }

    @Test func aResumeWhoseNextPageIsIncompleteIsGivenUp() throws {
        let (talk, room) = try resuming()
        let first = ChannelLogPage(
            events: [try talk.message(5)], latest: ChannelPosition(sequence: 8, id: 8), complete: true,
            through: ChannelPosition(sequence: 5, id: 5), more: true)
        _ = talk.tell(.channel(.logRead(number: 1, first, last: nil)))
        _ = talk.tell(.nextTurn)
        let actions = talk.tell(.channel(.logRead(number: 2, nil, last: nil)))
        #expect(actions.first == .count(.resumeAbandoned(room.name)))
        #expect(actions.last == .close(.goingAway))
    }

    /// - Parameter isRemembered: whether an older connection here has left the session's rates, under other limits.
    @Test(arguments: [false, true])
    func aResumedSessionHasItsAppsLimitsAndNoBurst(isRemembered: Bool) throws {
        let talk = try Conversation()
        var limits = AppLimits()
        limits.actsPerSecond = 3
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.session(.limits(limits)))
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false)))))
        _ = talk.tell(.session(.ratesTaken(isRemembered ? SessionRates(isResumed: true) : nil)))
        #expect(talk.session.rates.limits == limits)
        let calls = try (1...100).map { try talk.calls("user_query_user_status", $0, #""account":"bob""#) }
        let admitted = calls.prefix { !$0.contains(.count(.actLimited)) }.count
        #expect(admitted == (isRemembered ? Limits.actsPerSecond : 3))
    }

    @Test func aResumedSessionsNextJoinHasTheNextNumber() throws {
        let talk = try Conversation()
        let room = try talk.channel("room")
        _ = try talk.says(Talk.lineLogin)
        var answer = SessionResumed(uid: 7, channel: nil, push: false)
        answer.moveNumber = 3
        _ = talk.tell(.session(.resumed(.success(answer))))
        _ = talk.tell(.session(.ratesTaken(nil)))
        _ = try talk.calls("channel_join", 1, #""name":"room""#)
        #expect(
            try talk.tell(.channel(.subscribed(room, true, last: nil, left: nil))).last
                == .request(.join(talk.owner, talk.ticket(), room.name, number: 4)))
    }

    @Test func aResumeOfAClientThatDoesNotReadStartsNoCall() throws {
        let talk = try Conversation()
        _ = talk.tell(.output(isPaused: true))
        _ = try talk.says(Talk.lineLogin)
        _ = try talk.calls("user_query_user_status", 1, #""account":"bob""#)
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false)))))
        _ = talk.tell(.session(.ratesTaken(nil)))
        #expect(!talk.hasNextTurn && talk.isActive)
    }

    @Test func aResumeWithoutItsChannelsEventsIsGivenUp() throws {
        let talk = try Conversation()
        let room = try talk.channel("room")
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: room.name, push: false)))))
        _ = talk.tell(.session(.ratesTaken(nil)))
        #expect(
            talk.tell(.channel(.subscribed(room, false, last: nil, left: nil))) == [
                .count(.resumeAbandoned(room.name)), .session(.unbind(Talk.session)),
                .session(.detach(Talk.session, talk.user)),
                talk.keepRates, .close(.goingAway), .channel(.unsubscribe(room)),
            ])
    }

    private static let refusals: [(error: SignalingError, mayHaveSucceeded: Bool)] = [
        (SignalingError(.notLoggedIn, .badLine, "x"), false), (SignalingError(.logoutKicked, .replaced, "x"), false),
        (SignalingError(.failed, .overloaded, "x"), false), (.memoryFull, false), (.timeout(), true),
        (.unavailable("x"), true),
    ]

    /// - Parameter isLost: whether the client did not wait for the answer.
    @Test(arguments: refusals.indices, [false, true])
    func aResumeThatIsRefused(index: Int, isLost: Bool) throws {
        let (error, mayHaveSucceeded) = Self.refusals[index]
        let talk = try Conversation()
        _ = try talk.says(Talk.lineLogin)
        if isLost { _ = talk.tell(.connectionLost) }
        let refusal = isLost ? [] : [Talk.send(ServerFrame.close(error.code)), .close(.normal)]
        #expect(
            talk.tell(.session(.resumed(.failure(error))))
                == refusal + [.count(.loginFailure(isOfTheLogin: error.reason == .badLine))]
                + (mayHaveSucceeded ? [.session(.detachDoubtful(Talk.session, talk.user))] : []))
    }

    @Test func aResumeWhoseClientDidNotWaitIsDetached() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.connectionLost)
        #expect(
            talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false)))))
                == [.session(.detach(Talk.session, talk.user))])
    }

    @Test func aResumeFromAnAddressWithTooManyFailures() throws {
        let talk = try Conversation()
        guard case .lineLogin(let request) = try ClientFrame(decoding: Array(Talk.lineLogin.utf8)) else {
            Issue.record("no resume")
            return
        }
        #expect(talk.tell(.lineLogin(request, isAllowed: false)) == [.count(.loginLimited), .close(.goingAway)])
    }

    /// - Parameter isEnforced: whether the gateway ends sessions whose token has expired.
    @Test(arguments: [false, true])
    func aResumeWithAnExpiredToken(isEnforced: Bool) throws {
        let talk = try Conversation()
        talk.clock.enforcesTokenExpiry = isEnforced
        talk.clock.unixTime = 100
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false, tokenExpiry: 100)))))
        let ended = talk.tell(.session(.ratesTaken(nil))).contains(Talk.send(ServerFrame.close(.logoutTokenExpired)))
        #expect(ended == isEnforced && talk.isActive == !isEnforced)
    }
}
