import BusProtocol
import SignalingProtocol
import SignalingTokens
import TestKit
import Testing

@testable import GatewayLogic

@Suite struct ConnectionStateMachineTests {
    private static let certificate = "5CFd2fd1755d40ecb72977518be15d3b"
    private static let app = "970CA35de60c44645bbae8a215061b33"
    private static let token = "1:970CA35de60c44645bbae8a215061b33:1514219634:82539e1f3973bcfe3f0d0c8993e6c051"

    private func line(_ user: UserKey) -> Line {
        Line(user: user, session: SessionID("s-1"), secret: Conversation.secret)
    }

    private func loggedIn() throws -> ConnectionStateMachine {
        var machine = ConnectionStateMachine()
        _ = machine.login(app: "app", account: "anna", token: SignalingToken.none, device: "websdk", push: false)
        _ = machine.appAnswered(
            .success(AppSettings(certificate: "", tokenRequired: false)),
            session: SessionID("s-1"), secret: Conversation.secret, now: 0)
        _ = machine.opened(.success(SessionOpened(uid: 7)))
        return machine
    }

    @Test func aLoginAsksForTheAppThenOpensThenAnswers() throws {
        var machine = ConnectionStateMachine()
        let app = try AppID("app")
        let login = machine.login(app: "app", account: "anna", token: SignalingToken.none, device: "d", push: true)
        #expect(login == .askApp(app))
        let user = UserKey(app: app, account: try Account("anna"))
        var session = ConnectionStateMachine.Session(line: line(user), device: "d", push: true)
        let opening = machine.appAnswered(
            .success(AppSettings(certificate: "", tokenRequired: false)),
            session: SessionID("s-1"), secret: Conversation.secret, now: 0)
        #expect(opening == .open(session))
        session.uid = 7
        #expect(machine.opened(.success(SessionOpened(uid: 7))) == .loggedIn(ActiveSession(session), nil))
        #expect(machine.active?.session == session)
    }

    @Test(arguments: [
        (Self.token, Int64(1_514_219_633), nil as SignalingCode?),
        (Self.token, 1_514_219_634, .loginTokenExpired),
        ("1:970CA35de60c44645bbae8a215061b33:1514219635:82539e1f3973bcfe3f0d0c8993e6c051", 0, .loginTokenWrong),
        (SignalingToken.none, 0, .loginTokenWrong),
    ])
    func tokensAreChecked(token: String, now: Int64, refusal: SignalingCode?) {
        var machine = ConnectionStateMachine()
        _ = machine.login(app: Self.app, account: "2882341273", token: token, device: "", push: false)
        let action = machine.appAnswered(
            .success(AppSettings(certificate: Self.certificate, tokenRequired: true)),
            session: SessionID("s-1"), secret: Conversation.secret, now: now)
        switch (action, refusal) {
        case (.open, nil): break
        case (.refuse(let error), let code?): #expect(error.code == code)
        default: Issue.record("unexpected: \(action)")
        }
    }

    @Test func aSessionKnowsWhenItsTokenExpires() {
        var machine = ConnectionStateMachine()
        _ = machine.login(app: Self.app, account: "2882341273", token: Self.token, device: "", push: false)
        _ = machine.appAnswered(
            .success(AppSettings(certificate: Self.certificate, tokenRequired: true)),
            session: SessionID("s-1"), secret: Conversation.secret, now: 0)
        _ = machine.opened(.success(SessionOpened(uid: 1)))
        let hasExpired = (machine.hasExpired(now: 1_514_219_633), machine.hasExpired(now: 1_514_219_634))
        #expect(hasExpired == (false, true))
    }

    @Test func aSessionWithoutATokenDoesNotExpire() throws {
        let machine = try loggedIn()
        let hasExpired = machine.hasExpired(now: .max)
        #expect(!hasExpired)
    }

    @Test func theOldestClientsAppStandsInTheToken() throws {
        var machine = ConnectionStateMachine()
        let action = machine.login(app: nil, account: "2882341273", token: Self.token, device: "", push: false)
        #expect(action == .askApp(try AppID(Self.app)))
    }

    @Test func aBadAccountIsRefused() {
        var machine = ConnectionStateMachine()
        guard case .refuse(let error) = machine.login(app: "a", account: "a b", token: "", device: "", push: false)
        else {
            Issue.record("accepted")
            return
        }
        #expect(error.code == .invalidUser)
    }

    @Test func aConnectionLostWhileOpeningLeavesADetachedSession() throws {
        var machine = ConnectionStateMachine()
        _ = machine.login(app: "app", account: "anna", token: SignalingToken.none, device: "d", push: false)
        _ = machine.appAnswered(
            .success(AppSettings(certificate: "", tokenRequired: false)),
            session: SessionID("s-1"), secret: Conversation.secret, now: 0)
        #expect(machine.connectionLost() == .none)
        guard case .detachDoubtful = machine.opened(.failure(.timeout())) else {
            Issue.record("not detached")
            return
        }
    }

    @Test func aFailedOpeningMayHaveTakenEffect() throws {
        var machine = ConnectionStateMachine()
        _ = machine.login(app: "app", account: "anna", token: SignalingToken.none, device: "d", push: false)
        _ = machine.appAnswered(
            .success(AppSettings(certificate: "", tokenRequired: false)),
            session: SessionID("s-1"), secret: Conversation.secret, now: 0)
        guard case .refuseOpened = machine.opened(.failure(.timeout())) else {
            Issue.record("not refused")
            return
        }
        #expect(machine.connectionLost() == .none)
    }

    @Test func aLostConnectionDetachesOnce() throws {
        var machine = try loggedIn()
        guard case .detach = machine.connectionLost() else {
            Issue.record("not detached")
            return
        }
        #expect(machine.connectionLost() == .none)
    }

    @Test func aLoggedOutConnectionIsNotDetached() throws {
        var machine = try loggedIn()
        machine.logsOut(CallTicket(id: "1", ordering: .exclusive, arrivedAt: 0))
        machine.loggedOut(isOver: true)
        let isOver = machine.isOver
        #expect(isOver)
        #expect(machine.connectionLost() == .none)
    }

    @Test func aKickEndsTheConnectionOnce() throws {
        var machine = try loggedIn()
        #expect(machine.superseded(.closeFrame(.logoutKicked)) == .end(.closeFrame(.logoutKicked)))
        #expect(machine.superseded(.closeFrame(.logoutKicked)) == .none)
        #expect(machine.connectionLost() == .none)
    }

    @Test func aBadLineIsClosed() {
        var machine = ConnectionStateMachine()
        #expect(machine.lineLogin("no line") == .end(.closeFrame(.notLoggedIn)))
    }

    @Test func aSecondLoginIsRefusedAndHarmsNothing() throws {
        var machine = try loggedIn()
        let session = machine.active
        #expect(
            machine.login(app: "b", account: "b", token: "", device: "", push: false)
                == .refuseSecond(isResume: false))
        #expect(machine.lineLogin("x") == .refuseSecond(isResume: true))
        #expect(machine.active == session)
    }

    @Test func aLoginBesideAnotherIsRefusedBehindItsAnswer() throws {
        var machine = ConnectionStateMachine()
        _ = machine.login(app: "app", account: "anna", token: SignalingToken.none, device: "d", push: false)
        #expect(machine.lineLogin("x") == .none)
        _ = machine.appAnswered(
            .success(AppSettings(certificate: "", tokenRequired: false)),
            session: SessionID("s-1"), secret: Conversation.secret, now: 0)
        guard case .loggedIn = machine.opened(.success(SessionOpened(uid: 7))) else {
            Issue.record("not logged in")
            return
        }
        #expect(machine.takeSecond() == .refuseSecond(isResume: true))
        #expect(machine.takeSecond() == .none)
    }

    @Test func aFailedResumeMayHaveTakenEffect() throws {
        var machine = ConnectionStateMachine()
        let user = UserKey(app: try AppID("app"), account: try Account("anna"))
        guard case .resume(let session) = machine.lineLogin(line(user).wire) else {
            Issue.record("not asked for")
            return
        }
        #expect(machine.resumed(.failure(.timeout())) == .refuseResumed(.timeout(), session))
        #expect(machine.connectionLost() == .none)
    }

    @Test func anAppThatRequiresTokensButHasNoCertificateLetsNobodyIn() {
        var machine = ConnectionStateMachine()
        _ = machine.login(app: Self.app, account: "2882341273", token: Self.token, device: "", push: false)
        let action = machine.appAnswered(
            .success(AppSettings(certificate: "", tokenRequired: true)), session: SessionID("s-1"),
            secret: Conversation.secret,
            now: 0)
        guard case .refuse(let error) = action else {
            Issue.record("\(action)")
            return
        }
        #expect(error.code == .loginTokenWrong)
    }

    @Test func aResumedSessionIsAsPresenceKnowsIt() throws {
        var machine = ConnectionStateMachine()
        let room = try ChannelName("room")
        guard
            case .resume(var session) = machine.lineLogin(
                line(UserKey(app: try AppID("app"), account: try Account("anna"))).wire)
        else {
            Issue.record("not asked for")
            return
        }
        session.uid = 7
        session.push = true
        session.tokenExpiry = 99
        session.hold = SessionHold(since: RedisTime(milliseconds: 1), claim: 2)
        var answer = SessionResumed(
            uid: 7, channel: room, push: true, tokenExpiry: 99,
            hold: SessionHold(since: RedisTime(milliseconds: 1), claim: 2))
        answer.moveNumber = 3
        answer.mail = EmptyMailbox(cleared: 3, highest: 5)
        #expect(
            machine.resumed(.success(answer))
                == .resumed(
                    ActiveSession(session), ChannelPlace(moveNumber: 3, channel: room), after: nil, answer.mail))
    }
}
