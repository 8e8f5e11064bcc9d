import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayLogic

/// Whole conversations: logins, and the ends of sessions.
@Suite struct ClientSessionTests {
    private typealias Talk = Conversation

    private static let second = SignalingError(
        .alreadyLoggedIn, .alreadyLoggedIn, "this connection is already logged in")

    @Test func aLogin() throws {
        let talk = try Conversation()
        #expect(try talk.says(Talk.login) == [.request(.askApp(talk.user.app))])
        var session = ConnectionStateMachine.Session(
            line: Line(user: talk.user, session: Talk.session, secret: Talk.secret), device: "d", push: false)
        #expect(talk.appAnswers() == [.session(.bind(Talk.session)), .request(.open(session))])
        session.uid = 7
        #expect(
            talk.tell(.session(.opened(.success(SessionOpened(uid: 7))))) == [
                .count(.login), .raiseOutputBound, .raisePace,
                Talk.send(ServerFrame.loginSucceeded(line: session.line.wire, uid: 7, push: false)),
                .request(.loadMailbox(ActiveSession(session), after: 0, fresh: true)),
            ])
        #expect(talk.session.held == HeldSession(line: session.line, uid: 7, device: "d", push: false))
        #expect(try talk.says(#"["ping",5]"#) == [Talk.send(ServerFrame.pong(.number("5")))])
    }

    @Test(arguments: [false, true])
    func anEmptyMailboxIsNotRead(hasNews: Bool) throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        _ = talk.appAnswers()
        // What is published before presence answers may have come before or after its look into the mailbox.
        if hasNews { _ = talk.tell(.mailbox(.published(Talk.entry(6), after: 5))) }
        let mail = EmptyMailbox(cleared: 3, highest: 5)
        let actions = talk.tell(.session(.opened(.success(SessionOpened(uid: 7, mail: mail)))))
        #expect(Talk.readMailbox(actions) == hasNews)
        guard !hasNews else { return }
        #expect(
            talk.tell(.mailbox(.published(Talk.entry(6), after: 5))) == [
                Talk.send(ServerFrame.notifyMessage(version: 6))
            ])
        #expect(talk.tell(.mailbox(.latest(6))) == [], "nothing was missed")
    }

    @Test(arguments: [
        (SignalingCode.loginRejected, SignalingReason.unknownApp, true), (.loginRejected, .busy, false),
        (.loginTokenWrong, .tokenErrorRequired, true), (.loginTokenExpired, .tokenErrorExpired, true),
        (.invalidUser, .busy, true), (.failed, .timeout, false),
    ])
    func aLoginThatIsRefused(code: SignalingCode, reason: SignalingReason, isOfTheLogin: Bool) throws {
        let error = SignalingError(code, reason, "x")
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        #expect(
            talk.appAnswers(.failure(error)) == [
                .count(.loginFailure(isOfTheLogin: isOfTheLogin)), Talk.send(ServerFrame.loginFailed(error)),
                .close(.normal),
            ])
        #expect(try talk.says(Talk.login) == [], "nothing is done after the end")
    }

    @Test func aLoginThatPresenceDoesNotAnswer() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        _ = talk.appAnswers()
        #expect(
            talk.tell(.session(.opened(.failure(.timeout())))) == [
                .count(.loginFailure(isOfTheLogin: false)), Talk.send(ServerFrame.loginFailed(.timeout())),
                .session(.unbind(Talk.session)), .close(.normal), .session(.detachDoubtful(Talk.session, talk.user)),
            ])
    }

    /// Presence was not asked, so nothing is to be undone there: neither for who waits nor for who has gone.
    @Test func aLoginWhoseTurnDoesNotCome() throws {
        let error = SignalingError(.failed, .overloaded, "x")
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        _ = talk.appAnswers()
        #expect(
            talk.tell(.session(.opened(.failure(error)))) == [
                .count(.loginFailure(isOfTheLogin: false)), Talk.send(ServerFrame.loginFailed(error)),
                .session(.unbind(Talk.session)), .close(.normal),
            ])
        let gone = try Conversation()
        _ = try gone.says(Talk.login)
        _ = gone.appAnswers()
        _ = gone.tell(.connectionLost)
        #expect(gone.tell(.session(.opened(.failure(error)))) == [])
    }

    @Test func aLoginFromAnAddressWithTooManyFailures() throws {
        let talk = try Conversation()
        guard case .login(let request) = try ClientFrame(decoding: Array(Talk.login.utf8)) else { return }
        let actions = talk.tell(.login(request, isAllowed: false))
        #expect(actions.first == .count(.loginLimited))
        #expect(actions.last == .close(.normal))
        #expect(actions.count == 3)
        let active = try self.talk("active")
        #expect(active.tell(.login(request, isAllowed: false)) == [], "the session that it has goes on")
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
        let actions = talk.tell(.session(.opened(.success(SessionOpened(uid: 7)))))
        #expect(actions.last == refusal)
        #expect(actions.count { $0 == refusal } == 1)
        #expect(try talk.says(frame) == [refusal])
        #expect(talk.isActive)
    }

    // MARK: - Ends

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
            #expect(try talk.calls("user_logout") == [.request(.logOut(talk.owner, talk.ticket()))])
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
        let detach = SessionAction.session(.detach(Talk.session, talk.user))
        let expected: [SessionAction]
        switch state {
        case "opening": expected = [.session(.unbind(Talk.session))]
        case "active", "loggingOut": expected = [.session(.unbind(Talk.session)), detach, talk.keepRates]
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
                ? talk.tell(.session(.resumed(.success(SessionResumed(uid: 1, channel: nil, push: false))))) == late
                : talk.tell(.session(.opened(.success(SessionOpened(uid: 1))))) == late)
        #expect(try talk.says(#"["ping",1]"#) == [])
    }

    @Test(arguments: ["fresh", "authenticating", "opening", "resuming", "active", "loggingOut", "closed"])
    func aKickInEveryState(state: String) throws {
        let talk = try talk(state)
        let actions = talk.tell(.session(.superseded(.closeFrame(.logoutOther))))
        guard state != "closed" else {
            #expect(actions == [])
            return
        }
        #expect(actions.first == Talk.send(ServerFrame.close(.logoutOther)))
        #expect(actions.last == .close(.normal))
        #expect(!actions.contains(.session(.detach(Talk.session, talk.user))), "the session is over")
        #expect(talk.tell(.session(.opened(.success(SessionOpened(uid: 1))))) == [])
        #expect(talk.tell(.connectionLost) == [])
    }

    @Test(arguments: ["opening", "resuming"])
    func aKickAfterTheLossOfTheConnectionWritesNothing(state: String) throws {
        let talk = try talk(state)
        _ = talk.tell(.connectionLost)
        #expect(talk.tell(.session(.superseded(.closeFrame(.logoutOther)))) == [])
        #expect(talk.tell(.session(.opened(.success(SessionOpened(uid: 1))))) == [], "the session is over")
    }

    @Test func aTakenOverSessionIsClosedWithoutAFrame() throws {
        let talk = try talk("active")
        #expect(
            talk.tell(.session(.superseded(.silent))) == [
                talk.keepRates, .session(.unbind(Talk.session)), .close(.normal),
            ])
    }

    @Test func aLogoutIsAnsweredBeforeTheEnd() throws {
        let talk = try talk("loggingOut")
        #expect(
            talk.tell(.session(.loggedOut(talk.ticket(), nil))) == [
                Talk.ok(), talk.keepRates, .session(.unbind(Talk.session)), .close(.normal),
            ])
    }

    @Test func theCloseThatALogoutCausesIsItsAnswer() throws {
        let talk = try talk("loggingOut")
        #expect(talk.tell(.session(.superseded(.closeFrame(.logoutUser)))).first == Talk.ok())
        #expect(talk.tell(.session(.loggedOut(talk.ticket(), nil))) == [])
    }

    @Test func aLogoutThatFails() throws {
        let talk = try talk("loggingOut")
        #expect(talk.tell(.session(.loggedOut(talk.ticket(), .timeout()))) == Talk.failed(1, .timeout()))
        #expect(talk.isActive)
    }

    @Test func aRemovedAppEndsTheSession() throws {
        let talk = try talk("active")
        #expect(
            talk.tell(.session(.end(.logoutOther))) == [
                .request(.endSession(Talk.session, talk.user)), Talk.send(ServerFrame.close(.logoutOther)),
                talk.keepRates, .session(.unbind(Talk.session)), .close(.normal),
            ])
    }

    @Test func aTokenExpires() throws {
        let talk = try Conversation()
        talk.clock.enforcesTokenExpiry = true
        _ = try talk.says(Talk.lineLogin)
        _ = talk.tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false, tokenExpiry: 100)))))
        _ = talk.tell(.session(.ratesTaken(nil)))
        talk.clock.unixTime = 99
        #expect(talk.tell(.session(.tokenCheck)) == [])
        talk.clock.unixTime = 100
        #expect(talk.tell(.session(.tokenCheck)).contains(Talk.send(ServerFrame.close(.logoutTokenExpired))))
        #expect(!talk.isActive)
    }
}
