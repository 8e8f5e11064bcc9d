import GatewayLogic
import SignalingProtocol
import SignalingWire
import Testing

/// Whole conversations: logins, resumes and their ends.
@Suite struct ClientSessionTests {
    private typealias Talk = Conversation

    private static let second = SignalingError(
        .alreadyLoggedIn, .alreadyLoggedIn, "this connection is already logged in")

    @Test func aLogin() throws {
        let talk = try Conversation()
        #expect(try talk.says(Talk.login) == [.askApp(talk.user.app)])
        var session = ConnectionStateMachine.Session(
            line: Line(user: talk.user, session: Talk.session, secret: "secret"), device: "d", push: false)
        #expect(talk.appAnswers() == [.bind(Talk.session), .open(session)])
        session.uid = 7
        #expect(
            talk.tell(.opened(.success(SessionOpened(uid: 7)))) == [
                .count(.login), .raiseOutputBound,
                Talk.send(ServerFrame.loginSucceeded(line: session.line.wire, uid: 7, push: false)),
                .loadMailbox(after: 0, fresh: true),
            ])
        #expect(talk.session.held == session)
        #expect(try talk.says(#"["ping",5]"#) == [Talk.send(ServerFrame.pong(.number("5")))])
    }

    @Test func aLoginThatTheAppRefuses() throws {
        let error = SignalingError(.loginRejected, .unknownApp, "no such app")
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        #expect(
            talk.appAnswers(.failure(error)) == [
                .count(.loginFailure(isOfTheLogin: true)), Talk.send(ServerFrame.loginFailed(error)), .close(.normal),
            ])
        #expect(try talk.says(Talk.login) == [], "nothing is done after the end")
    }

    @Test func aLoginThatPresenceDoesNotAnswer() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        _ = talk.appAnswers()
        #expect(
            talk.tell(.opened(.failure(.timeout()))) == [
                .count(.loginFailure(isOfTheLogin: false)), Talk.send(ServerFrame.loginFailed(.timeout())),
                .unbind(Talk.session), .close(.normal), .detach(Talk.session, talk.user),
            ])
    }

    @Test func aLoginFromAnAddressWithTooManyFailures() throws {
        let talk = try Conversation()
        guard case .login(let request) = try ClientFrame(decoding: Array(Talk.login.utf8)) else { return }
        let actions = talk.tell(.login(request, isAllowed: false))
        #expect(actions.first == .count(.loginLimited))
        #expect(actions.last == .close(.normal))
        #expect(actions.count == 3)
    }

    @Test(arguments: [Conversation.login, Conversation.lineLogin])
    func aSecondLoginIsRefusedAfterTheFirstIsAnswered(frame: String) throws {
        let talk = try Conversation()
        let refusal = Talk.send(
            frame == Talk.login ? ServerFrame.loginFailed(Self.second) : ServerFrame.lineLoginFailed(Self.second))
        _ = try talk.says(Talk.login)
        #expect(try talk.says(frame) == [])
        _ = talk.appAnswers()
        #expect(try talk.says(frame) == [], "one refusal tells as much as two")
        let actions = talk.tell(.opened(.success(SessionOpened(uid: 7))))
        #expect(actions.last == refusal)
        #expect(actions.count { $0 == refusal } == 1)
        #expect(try talk.says(frame) == [refusal])
        #expect(talk.isActive)
    }

    // MARK: - Resumes

    @Test func aResume() throws {
        let talk = try Conversation()
        let line = try Line(wire: Talk.line)
        #expect(
            try talk.says(Talk.lineLogin)
                == [.resume(ConnectionStateMachine.Session(line: line, device: "", push: false))])
        #expect(try talk.calls("user_query_user_status", 1, #""account":"bob""#) == [], "held until it is answered")
        #expect(
            talk.tell(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false)))) == [
                .count(.resume), .raiseOutputBound, .bind(Talk.session), .takeRates(Talk.session),
            ])
        #expect(
            talk.tell(.ratesTaken(nil)) == [
                Talk.send(
                    ServerFrame.lineLoginSucceeded(
                        line: Talk.line, uid: 7, push: false, channel: nil, complete: true)),
                .loadMailbox(after: 0, fresh: false), .goOn,
            ])
        guard case .perform(talk.turn(), let call)? = talk.tell(.goOn).first else {
            Issue.record("the held call does not start")
            return
        }
        #expect(call.act == .queryStatus(try Account("bob")))
        #expect(!talk.canGoOn)
    }

    /// A resume shows missed events page by page, pausing while the client does not read, and then the events that
    /// came meanwhile.
    @Test func aResumeInAChannelShowsWhatWasMissed() throws {
        let talk = try Conversation()
        let room = try talk.channel("room")
        _ = try talk.says(#"["line_login",{"line":"\#(Talk.line)","after":4}]"#)
        _ = talk.tell(.resumed(.success(SessionResumed(uid: 7, channel: room.name, push: false))))
        #expect(talk.tell(.ratesTaken(nil)) == [.subscribe(room)])
        #expect(
            talk.tell(.subscribed(room, true, last: nil, left: nil)) == [
                .enter(room), .readLog(room, after: ChannelPosition(sequence: 0, id: 4), number: 1),
            ])
        let first = ChannelLogPage(
            events: [try talk.message(5), try talk.message(6)], latest: ChannelPosition(sequence: 8, id: 8),
            complete: true, through: ChannelPosition(sequence: 6, id: 6), more: true)
        #expect(
            talk.tell(.logRead(number: 1, first, last: nil)) == [
                Talk.send(
                    ServerFrame.lineLoginSucceeded(
                        line: Talk.line, uid: 7, push: false, channel: room.name, complete: true)),
                .loadMailbox(after: 0, fresh: false), .continueIDs(after: 4),
                .show([try talk.message(5), try talk.message(6)]), .goOn,
            ])
        #expect(talk.tell(.output(isPaused: true)) == [.count(.readingPaused), .setReading(false)])
        #expect(!talk.canGoOn && talk.tell(.goOn) == [])
        #expect(talk.tell(.output(isPaused: false)) == [.setReading(true), .goOn])
        #expect(
            talk.tell(.goOn) == [.readLog(room, after: ChannelPosition(sequence: 6, id: 6), number: 2)])
        #expect(talk.tell(.published([try talk.message(8), try talk.message(9)])) == [])
        let last = ChannelLogPage(
            events: [try talk.message(7), try talk.message(8)], latest: ChannelPosition(sequence: 8, id: 8),
            complete: true, through: ChannelPosition(sequence: 8, id: 8), more: false)
        #expect(
            talk.tell(.logRead(number: 2, last, last: nil)) == [
                .show([try talk.message(7), try talk.message(8)]), .goOn,
            ])
        #expect(
            talk.tell(.goOn) == [
                .advanceFeed(ChannelPosition(sequence: 8, id: 8)), .showAll(after: 8), .show([try talk.message(9)]),
            ])
    }

    @Test func aResumeWithoutItsChannelsEventsIsGivenUp() throws {
        let talk = try Conversation()
        let room = try talk.channel("room")
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.resumed(.success(SessionResumed(uid: 7, channel: room.name, push: false))))
        _ = talk.tell(.ratesTaken(nil))
        #expect(
            talk.tell(.subscribed(room, false, last: nil, left: nil)) == [
                .count(.resumeAbandoned(room.name)), .unbind(Talk.session), .detach(Talk.session, talk.user),
                .keepRates(Talk.session), .close(.goingAway),
            ])
    }

    @Test(arguments: [(SignalingCode.notLoggedIn, false), (.failed, true)])
    func aResumeThatIsRefused(code: SignalingCode, mayHaveSucceeded: Bool) throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.lineLogin)
        let refusal = [Talk.send(ServerFrame.close(code)), .close(.normal)]
        #expect(
            talk.tell(.resumed(.failure(SignalingError(code, .busy, "x"))))
                == refusal + (mayHaveSucceeded ? [.detach(Talk.session, talk.user)] : []))
    }

    // MARK: - Ends

    private static let gone: [SessionAction] = [.keepRates(Conversation.session)]

    /// - Parameter state: the name of the state.
    /// - Returns: a conversation that has reached it.
    private func talk(_ state: String) throws -> Conversation {
        let talk = try Conversation()
        switch state {
        case "fresh": break
        case "authenticating": _ = try talk.says(Talk.login)
        case "opening":
            _ = try talk.says(Talk.login)
            _ = talk.appAnswers()
        case "resuming": _ = try talk.says(Talk.lineLogin)
        case "active": try talk.logIn()
        case "loggingOut":
            try talk.logIn()
            #expect(try talk.calls("user_logout") == [.logOut(talk.turn())])
        case "closed":
            try talk.logIn()
            _ = talk.tell(.connectionLost)
        default: Issue.record("no such state: \(state)")
        }
        return talk
    }

    @Test(arguments: ["fresh", "authenticating", "opening", "resuming", "active", "loggingOut", "closed"])
    func aConnectionIsLostInEveryState(state: String) throws {
        let talk = try talk(state)
        let detach = SessionAction.detach(Talk.session, talk.user)
        let expected: [SessionAction]
        switch state {
        case "opening": expected = [.unbind(Talk.session)]
        case "active", "loggingOut": expected = [.unbind(Talk.session), detach, .keepRates(Talk.session)]
        default: expected = []
        }
        #expect(talk.tell(.connectionLost) == expected)
        #expect(talk.tell(.connectionLost) == [])
        #expect(!talk.isActive)
        // Only the late answer tells whether there is a session, which must then be detached.
        let late = state == "opening" || state == "resuming" ? [detach] : []
        #expect(talk.appAnswers() == [])
        #expect(
            state == "resuming"
                ? talk.tell(.resumed(.success(SessionResumed(uid: 1, channel: nil, push: false)))) == late
                : talk.tell(.opened(.success(SessionOpened(uid: 1)))) == late)
        #expect(try talk.says(#"["ping",1]"#) == [])
    }

    @Test(arguments: ["fresh", "authenticating", "opening", "resuming", "active", "loggingOut", "closed"])
    func aKickInEveryState(state: String) throws {
        let talk = try talk(state)
        let actions = talk.tell(.superseded(.closeFrame(.logoutOther)))
        guard state != "closed" else {
            #expect(actions == [])
            return
        }
        #expect(actions.first == Talk.send(ServerFrame.close(.logoutOther)))
        #expect(actions.last == .close(.normal))
        #expect(!actions.contains(.detach(Talk.session, talk.user)), "the session is over")
        #expect(talk.tell(.opened(.success(SessionOpened(uid: 1)))) == [])
        #expect(talk.tell(.connectionLost) == [])
    }

    @Test func aTakenOverSessionIsClosedWithoutAFrame() throws {
        let talk = try talk("active")
        #expect(
            talk.tell(.superseded(.silent)) == [.keepRates(Talk.session), .unbind(Talk.session), .close(.normal)])
    }

    @Test func aLogoutIsAnsweredBeforeTheEnd() throws {
        let talk = try talk("loggingOut")
        #expect(
            talk.tell(.loggedOut(talk.turn(), nil)) == [
                Talk.ok(), .keepRates(Talk.session), .unbind(Talk.session), .close(.normal),
            ])
    }

    @Test func theCloseThatALogoutCausesIsItsAnswer() throws {
        let talk = try talk("loggingOut")
        #expect(talk.tell(.superseded(.closeFrame(.logoutUser))).first == Talk.ok())
        #expect(talk.tell(.loggedOut(talk.turn(), nil)) == [])
    }

    @Test func aLogoutThatFails() throws {
        let talk = try talk("loggingOut")
        #expect(talk.tell(.loggedOut(talk.turn(), .timeout())) == Talk.failed(1, .timeout()))
        #expect(talk.isActive)
    }

    @Test func aRemovedAppEndsTheSession() throws {
        let talk = try talk("active")
        #expect(
            talk.tell(.end(.logoutOther)) == [
                .endSession(Talk.session, talk.user), Talk.send(ServerFrame.close(.logoutOther)),
                .keepRates(Talk.session), .unbind(Talk.session), .close(.normal),
            ])
    }

    @Test func aTokenExpires() throws {
        let talk = try Conversation()
        talk.clock.enforcesTokenExpiry = true
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false, tokenExpiry: 100))))
        _ = talk.tell(.ratesTaken(nil))
        talk.clock.unixTime = 99
        #expect(talk.tell(.tokenCheck) == [])
        talk.clock.unixTime = 100
        #expect(talk.tell(.tokenCheck).contains(Talk.send(ServerFrame.close(.logoutTokenExpired))))
        #expect(!talk.isActive)
    }
}
