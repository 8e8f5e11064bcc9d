import SignalingProtocol
import SignalingWire
import Testing

@testable import SignalingClient

@Suite("The client's states: login, reconnection, logout")
struct ClientStateMachineTests {
    @Test func theLoginNamesTheUserAndAsksForPushes() {
        var machine = Script.machine()
        #expect(machine.start(now: 0) == [.connect(attempt: 1, Script.here)])
        #expect(machine.status == .loggingIn)
        let frames = machine.connected(attempt: 1, now: 5).sent
        let fields = #""vid":"app","account":"alice","uid":0,"token":"t","device":"swiftsdk","ip":"","push":1"#
        #expect(frames == ["[\"login\",{\(fields)}]"])
        #expect(machine.received(Script.loggedIn, attempt: 1, now: 6) == [.event(.loggedIn(uid: 7))])
        #expect(machine.status == .online)
    }

    @Test func discoveryIsAskedEachTimeAndItsLastAnswerKept() {
        var configuration = Script.configuration
        configuration.source = .discovery(["http://a"])
        var machine = Script.machine(configuration)
        #expect(machine.start(now: 0) == [.discover(attempt: 1)])
        #expect(machine.discovered([Script.here], attempt: 1, now: 1) == [.connect(attempt: 1, Script.here)])
        #expect(machine.disconnected(attempt: 1, now: 2) == [.disconnect])
        #expect(machine.tick(now: 2) == [.discover(attempt: 3)])
        #expect(machine.discovered([], attempt: 1, now: 3).isEmpty, "of a former attempt")
        #expect(machine.discovered([], attempt: 3, now: 3) == [.connect(attempt: 3, Script.here)])
    }

    @Test func aRefusedLoginIsFinal() {
        var machine = Script.machine()
        _ = machine.start(now: 0)
        _ = machine.connected(attempt: 1, now: 0)
        let error = SignalingError(.loginTokenWrong, .tokenErrorDigest, "wrong")
        let actions = machine.received(.loginAnswer(.failure(error)), attempt: 1, now: 0)
        #expect(actions == [.disconnect, .event(.loginFailed(error))])
        #expect(machine.nextTick(now: 0) == nil)
    }

    @Test func undecidedLoginsAreRetriedUpToABound() {
        var configuration = Script.configuration
        configuration.timing.loginRetries = 2
        var machine = Script.machine(configuration)
        _ = machine.start(now: 0)
        var attempt = 1
        for _ in 1...2 {
            _ = machine.connected(attempt: attempt, now: 0)
            let error = SignalingError(.failed, .unavailable, "redis")
            #expect(machine.received(.loginAnswer(.failure(error)), attempt: attempt, now: 0) == [.disconnect])
            attempt += 2
            let again = machine.tick(now: 0)
            #expect(again == [.connect(attempt: attempt, attempt == 3 ? Script.there : Script.here)])
        }
        let end = machine.disconnected(attempt: attempt, now: 0).events
        #expect(end == [.loginFailed(SignalingError(.failed, .unavailable, "redis"))])
    }

    @Test func aLoginHasATimeLimit() {
        var machine = Script.machine(lowest: false)
        _ = machine.start(now: 0)
        var now: Int64 = 0
        var ends: [SignalingEvent] = []
        while let due = machine.nextTick(now: now), now < 100_000 {
            now = max(due, now + 1)
            ends += machine.tick(now: now).events
        }
        #expect(ends == [.loginFailed(SignalingError(.loginNetwork, .network, "no gateway could be reached"))])
        #expect(now <= 30_000)
    }

    @Test(arguments: [(Int64(29_999), false), (30_000, true)])
    func aLoginIsGivenUpWhenItsTimeIsOver(now: Int64, ends: Bool) {
        var machine = Script.machine()
        _ = machine.start(now: 0)
        #expect(machine.disconnected(attempt: 1, now: now).events.isEmpty != ends)
        #expect((machine.status == .loggedOut) == ends)
    }

    @Test(arguments: [(Int64(129_999), false), (130_000, true)])
    func aResumeIsGivenUpWhenItsTimeIsOver(now: Int64, ends: Bool) {
        var machine = Script.online()
        _ = machine.disconnected(attempt: 1, now: 0)
        _ = machine.tick(now: 0)
        let error = SignalingError(.logoutNetwork, .network, "the session could not be resumed in time")
        let events = machine.disconnected(attempt: 3, now: now).events
        #expect(events == (ends ? [.loggedOut(error)] : [.reconnecting(attempt: 2)]))
    }

    @Test func pausesGrowToTheirBoundWithFullJitter() {
        var configuration = Script.configuration
        configuration.timing.resumeTime = .seconds(1000)
        var machine = Script.online(configuration)
        var wide = ClientStateMachine(configuration: configuration, chance: { $0.upperBound })
        swap(&machine, &wide)
        _ = machine.start(now: 0)
        _ = machine.connected(attempt: 1, now: 0)
        _ = machine.received(Script.loggedIn, attempt: 1, now: 0)
        _ = machine.disconnected(attempt: 1, now: 0)
        var now: Int64 = 0
        var pauses: [Int64] = []
        for _ in 1...7 {
            guard case .waiting(let until) = machine.state else { break }
            pauses.append(until - now)
            now = until
            _ = machine.tick(now: now)
            _ = machine.disconnected(attempt: machine.search.attempt, now: now)
        }
        #expect(pauses == [500, 500, 1000, 2000, 4000, 8000, 10_000])
    }

    @Test func aLostConnectionIsResumedElsewhereWithNothingTwice() {
        var machine = Script.online()
        let join = machine.call("channel_join", [JSONMember("name", "room")], now: 0)
        #expect(join.actions.sent == [#"["call2",["channel_join",1,{"line":"L","name":"room"}]]"#])
        #expect(machine.received(.callAnswer(id: 1, Script.ok), attempt: 1, now: 0).answers == [0])
        #expect(machine.received(Script.said(100, "a"), attempt: 1, now: 0).events.count == 1)
        let send = machine.call("channel_sendmsg", [JSONMember("messageID", "x")], now: 0)
        let lost = machine.disconnected(attempt: 1, now: 10)
        #expect(lost == [.disconnect, .event(.reconnecting(attempt: 1))])
        #expect(machine.status == .reconnecting)
        #expect(machine.tick(now: 10) == [.connect(attempt: 3, Script.there)])
        #expect(
            machine.connected(attempt: 3, now: 11).sent
                == [#"["line_login",{"line":"L","channel":"room","after":100}]"#])
        let actions = machine.received(Script.resumed(channel: "room"), attempt: 3, now: 12)
        #expect(actions.events == [.reconnected(complete: true)])
        #expect(actions.sent == send.actions.sent, "the unanswered call, under the same id")
        #expect(machine.received(Script.said(100, "a"), attempt: 3, now: 13).isEmpty)
        #expect(machine.received(Script.said(101, "b"), attempt: 3, now: 13).events.count == 1)
        #expect(machine.received(Script.said(102, "c"), attempt: 1, now: 13).isEmpty, "the old connection's")
        #expect(machine.received(.callAnswer(id: send.id, Script.ok), attempt: 3, now: 13).answers == [0])
        #expect(machine.received(.callAnswer(id: send.id, Script.ok), attempt: 3, now: 13).isEmpty)
    }

    @Test func closeFramesEndTheSession() {
        for (word, code) in [
            ("kick", SignalingCode.logoutKicked), ("token_expired", .logoutTokenExpired), ("101", .logoutUser),
            ("strange", .logoutOther),
        ] {
            var machine = Script.online()
            guard case .loggedOut(let error)? = machine.received(.close(word), attempt: 1, now: 0).events.last else {
                Issue.record("no end")
                continue
            }
            #expect(error.code == code)
        }
    }

    @Test func aDeadLineAfterALongAbsenceEndsTheSession() {
        var machine = Script.online()
        _ = machine.disconnected(attempt: 1, now: 0)
        _ = machine.tick(now: 0)
        _ = machine.connected(attempt: 3, now: 25_000)
        guard case .loggedOut(let error)? = machine.received(.close("bad_line"), attempt: 3, now: 25_000).events.last
        else {
            Issue.record("no end")
            return
        }
        #expect(error.code == .logoutNetwork)
    }

    /// Checks that the client logs in again after the gateway closed the connection, until it has its new session.
    private func logsInAgain(_ machine: inout ClientStateMachine, after actions: [ClientStateMachine.Action]) {
        #expect(actions.events == [.reconnecting(attempt: 1)])
        #expect(machine.status == .reconnecting)
        let attempt = machine.search.attempt
        #expect(machine.tick(now: 10).count == 1, "it connects")
        #expect(machine.connected(attempt: attempt + 1, now: 11).sent.first?.hasPrefix(#"["login","#) == true)
        let answer = ServerMessage.SessionAnswer(line: "M", uid: 7, push: true, channel: nil, complete: false)
        let again = machine.received(.loginAnswer(.success(answer)), attempt: attempt + 1, now: 12)
        #expect(again.events.first == .reconnected(complete: false))
        #expect(machine.status == .online)
    }

    @Test func aSessionThatTheClusterLostIsReplaced() {
        var machine = Script.online()
        let send = machine.call("channel_sendmsg", [JSONMember("messageID", "x")], now: 0)
        let actions = machine.received(.close("102"), attempt: 1, now: 5)
        #expect(actions.answers == [1001], "the new session would not know that it was sent")
        logsInAgain(&machine, after: actions)
        #expect(machine.received(.callAnswer(id: send.id, Script.ok), attempt: 1, now: 13).isEmpty)
    }

    @Test func aSessionUnknownSoonAfterTheLossIsReplaced() {
        var machine = Script.online()
        _ = machine.disconnected(attempt: 1, now: 0)
        _ = machine.tick(now: 0)
        _ = machine.connected(attempt: 3, now: 5)
        logsInAgain(&machine, after: machine.received(.close("bad_line"), attempt: 3, now: 5))
    }

    @Test func theEndOfAReplacementIsALogout() {
        var machine = Script.online()
        _ = machine.received(.close("102"), attempt: 1, now: 5)
        let connect = machine.tick(now: 10)
        #expect(connect.count == 1)
        _ = machine.connected(attempt: machine.search.attempt, now: 11)
        let error = SignalingError(.loginTokenExpired, .tokenErrorExpired, "too late")
        let actions = machine.received(.loginAnswer(.failure(error)), attempt: machine.search.attempt, now: 12)
        guard case .loggedOut(let end)? = actions.events.last else {
            Issue.record("no end")
            return
        }
        #expect(end.code == .logoutTokenExpired)
    }

    @Test func threeMissedPongsAreADeadConnection() {
        var machine = Script.online()
        #expect(machine.nextTick(now: 0) == 10_000)
        #expect(machine.tick(now: 10_000).sent == [#"["ping",1]"#])
        _ = machine.received(.pong, attempt: 1, now: 10_001)
        for second in [20, 30, 40] { #expect(machine.tick(now: Int64(second) * 1000).sent.count == 1) }
        #expect(machine.tick(now: 50_000) == [.disconnect, .event(.reconnecting(attempt: 1))])
    }

    @Test func pongsAreNotMissedWhileReadingIsPaused() {
        var configuration = Script.configuration
        // The login's own event already fills the event buffer, so that reading stops.
        configuration.eventBound = 1
        var machine = Script.online(configuration)
        for second in 1...10 { #expect(machine.tick(now: Int64(second) * 10_000).events.isEmpty) }
    }

    @Test func aLogoutAcknowledgesThenAsks() {
        var machine = Script.online()
        _ = machine.received(Script.mail(4, "x"), attempt: 1, now: 0)
        #expect(
            machine.logOut(now: 1).sent == [
                #"["call2",["user_getmsg",1,{"line":"L","ver_clear":4,"max":30}]]"#,
                #"["call2",["user_logout",2,{"line":"L"}]]"#,
            ])
        #expect(machine.status == .loggedOut)
        #expect(machine.call("user_sendmsg", [], now: 1).actions.answers == [1003])
        let end = machine.received(.callAnswer(id: 2, Script.ok), attempt: 1, now: 2).events
        #expect(end == [.loggedOut(ClientStateMachine.loggedOutByUser)])
    }

    @Test func anUnansweredLogoutEndsAfterItsTime() {
        var machine = Script.online()
        _ = machine.logOut(now: 0)
        #expect(machine.tick(now: 2999).isEmpty)
        #expect(machine.tick(now: 3000).events.count == 1)
    }
}
