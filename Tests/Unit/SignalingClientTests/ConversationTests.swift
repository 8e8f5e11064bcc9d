import SignalingProtocol
import SignalingWire
import Testing

@testable import SignalingClient

/// Plays whole conversations: each event, with all the actions that the client takes in response.
@Suite("Conversations of a client")
struct ConversationTests {
    typealias Event = ClientStateMachine.Event
    typealias Action = ClientStateMachine.Action

    private func frame(_ text: String) -> Action { .send(Array(text.utf8)) }

    private func call(_ ticket: Int64, _ function: String) -> Event {
        .call(ticket: ticket, function: function, arguments: [JSONMember("name", "room")])
    }

    private func answered(_ id: Int64, attempt: Int) -> Event {
        .received(.callAnswer(id: id, Script.ok), attempt: attempt)
    }

    private func message(_ text: String) -> Action {
        .event(.message(InstantMessage(account: "bob", text: text, time: 5)))
    }

    private func play(
        _ machine: inout ClientStateMachine, _ steps: [(now: Int64, event: Event, expected: [Action])]
    ) {
        for (number, step) in steps.enumerated() {
            let actions = machine.handle(step.event, now: step.now)
            #expect(actions == step.expected, "step \(number): \(step.event)")
        }
    }

    private let login =
        #"["login",{"vid":"app","account":"alice","uid":0,"token":"t","device":"swiftsdk","ip":"","push":1}]"#
    private let cancelled = SignalingError(.loginCancelled, .cancelled, "logged out while logging in")

    @Test func fromTheLoginOverALostConnectionToTheLogout() {
        var machine = Script.machine()
        let said = SignalingEvent.channelMessage(channel: "room", account: "bob", uid: 3, text: "a")
        play(
            &machine,
            [
                (0, .start, [.connect(attempt: 1, Script.here)]),
                (5, .connected(attempt: 1), [frame(login)]),
                (10, .received(Script.loggedIn, attempt: 1), [.event(.loggedIn(uid: 7))]),
                (20, call(41, "channel_join"), [frame(#"["call2",["channel_join",1,{"line":"L","name":"room"}]]"#)]),
                (25, answered(1, attempt: 1), [.answer(ticket: 41, Script.ok)]),
                (30, .received(Script.said(101, "a"), attempt: 1), [.event(said)]),
                (35, .received(Script.mail(5, "hi"), attempt: 1), [message("hi")]),
                (40, call(42, "user_sendmsg"), [frame(#"["call2",["user_sendmsg",2,{"line":"L","name":"room"}]]"#)]),
                (50, .disconnected(attempt: 1), [.disconnect, .event(.reconnecting(attempt: 1))]),
                (51, call(43, "user_set_attr"), []),
                (51, .tick, [.connect(attempt: 3, Script.there)]),
                (52, .received(Script.said(102, "late"), attempt: 1), []),
                (52, .connected(attempt: 1), []), (52, .disconnected(attempt: 1), []),
                (60, .connected(attempt: 3), [frame(#"["line_login",{"line":"L","channel":"room","after":101}]"#)]),
                (
                    70, .received(Script.resumed(channel: "room"), attempt: 3),
                    [
                        .event(.reconnected(complete: true)),
                        frame(#"["call2",["user_sendmsg",2,{"line":"L","name":"room"}]]"#),
                        frame(#"["call2",["user_set_attr",3,{"line":"L","name":"room"}]]"#),
                    ]
                ),
                (80, answered(2, attempt: 3), [.answer(ticket: 42, Script.ok)]),
                (80, answered(3, attempt: 3), [.answer(ticket: 43, Script.ok)]),
                (81, .tick, [frame(#"["call2",["user_getmsg",4,{"line":"L","ver_clear":5,"max":30}]]"#)]),
                (90, answered(4, attempt: 3), []),
                (100, .logOut, [frame(#"["call2",["user_logout",5,{"line":"L"}]]"#)]),
                (
                    110, answered(5, attempt: 3),
                    [.disconnect, .event(.loggedOut(ClientStateMachine.loggedOutByUser))]
                ),
            ])
        #expect(machine.nextTick(now: 110) == nil)
    }

    @Test func anAppThatTakesNoEventsStopsTheReadingOfEachConnection() {
        var configuration = Script.configuration
        configuration.eventBound = 4
        var machine = Script.online(configuration)
        play(
            &machine,
            [
                (1, .received(Script.mail(1, "a"), attempt: 1), [message("a")]),
                (2, .received(Script.mail(2, "b"), attempt: 1), [message("b")]),
                (3, .received(Script.mail(3, "c"), attempt: 1), [message("c"), .setReading(false)]),
                (4, .eventsTaken(1), []),
                (5, .disconnected(attempt: 1), [.disconnect, .event(.reconnecting(attempt: 1))]),
                (5, .tick, [.connect(attempt: 3, Script.there)]),
                (6, .connected(attempt: 3), [.setReading(false), frame(#"["line_login",{"line":"L"}]"#)]),
                (7, .eventsTaken(2), [.setReading(true)]),
                (8, .eventsTaken(2), []),
            ])
    }

    @Test func gatewaysThatHangInEveryStep() {
        var configuration = Script.configuration
        configuration.source = .discovery(["http://a"])
        var machine = Script.machine(configuration)
        let unreachable = SignalingError(.loginNetwork, .network, "no gateway could be reached")
        play(
            &machine,
            [
                (0, .start, [.discover(attempt: 1)]),
                (5999, .tick, []),
                (6000, .tick, [.disconnect]),
                (6000, .tick, [.discover(attempt: 3)]),
                (6001, .discovered([Script.here], attempt: 1), []),
                (6002, .discovered([Script.here], attempt: 3), [.connect(attempt: 3, Script.here)]),
                (12_002, .tick, [.disconnect]),
                (12_002, .tick, [.discover(attempt: 5)]),
                // No discovery server answered: the client tries the gateways of the previous answer.
                (12_003, .discovered([], attempt: 5), [.connect(attempt: 5, Script.here)]),
                (12_004, .connected(attempt: 5), [frame(login)]),
                (18_003, .tick, []),
                (18_004, .tick, [.disconnect]),
                (18_004, .received(Script.loggedIn, attempt: 5), []),
                (30_004, .tick, [.discover(attempt: 7)]),
                (36_004, .tick, [.disconnect, .event(.loginFailed(unreachable))]),
            ])
    }

    /// For each state, the events that lead to it and the effect of a logout there.
    @Test func aLogoutInEveryState() {
        let online: [Event] = [.start, .connected(attempt: 1), .received(Script.loggedIn, attempt: 1)]
        let lost = online + [.disconnected(attempt: 1)]
        let ends: [(before: [Event], expected: [Action])] = [
            ([], []),
            ([.start], [.disconnect, .event(.loginFailed(cancelled))]),
            ([.start, .connected(attempt: 1)], [.disconnect, .event(.loginFailed(cancelled))]),
            ([.start, .disconnected(attempt: 1)], [.disconnect, .event(.loginFailed(cancelled))]),
            (online, [frame(#"["call2",["user_logout",1,{"line":"L"}]]"#)]),
            (online + [.logOut], []),
            (lost, [.disconnect, .event(.loggedOut(ClientStateMachine.loggedOutByUser))]),
            (lost + [.tick], [.disconnect, .event(.loggedOut(ClientStateMachine.loggedOutByUser))]),
            (online + [.received(.close("kick"), attempt: 1)], []),
        ]
        for (before, expected) in ends {
            var machine = Script.machine()
            for event in before { _ = machine.handle(event, now: 0) }
            #expect(machine.handle(.logOut, now: 0) == expected, "\(before)")
            #expect(machine.status == .loggedOut)
        }
    }

    @Test func nothingHappensAfterTheEnd() {
        let over = SignalingError(.notLoggedIn, .notLoggedIn, "log in before calling functions")
        let end = SignalingError(.logoutOther, .closed, "the client was closed")
        var machine = Script.online()
        play(
            &machine,
            [
                (0, call(1, "user_set_attr"), [frame(#"["call2",["user_set_attr",1,{"line":"L","name":"room"}]]"#)]),
                (
                    1, .abandon,
                    [
                        .disconnect,
                        .answer(
                            ticket: 1, .failure(SignalingError(.notLoggedIn, .loggedOut, "the session is over"))),
                        .event(.loggedOut(end)),
                    ]
                ),
                (2, .abandon, []), (2, .start, []), (2, .tick, []), (2, .connected(attempt: 1), []),
                (2, .disconnected(attempt: 1), []), (2, answered(1, attempt: 1), []),
                (2, .cancelled(ticket: 1), []), (2, .eventsTaken(2), []),
                (3, call(2, "user_set_attr"), [.answer(ticket: 2, .failure(over))]),
            ])
    }

    @Test func aSessionThatTheClusterLostIsReplacedWithoutItsChannel() {
        var machine = Script.online()
        let again = ServerMessage.SessionAnswer(line: "M", uid: 7, push: true, channel: nil, complete: false)
        let interrupted = SignalingError(.failed, .interrupted, "the session was lost before the answer")
        play(
            &machine,
            [
                (0, call(1, "channel_join"), [frame(#"["call2",["channel_join",1,{"line":"L","name":"room"}]]"#)]),
                (1, answered(1, attempt: 1), [.answer(ticket: 1, Script.ok)]),
                (2, call(2, "user_sendmsg"), [frame(#"["call2",["user_sendmsg",2,{"line":"L","name":"room"}]]"#)]),
                (
                    3, .received(.close("102"), attempt: 1),
                    [.answer(ticket: 2, .failure(interrupted)), .disconnect, .event(.reconnecting(attempt: 1))]
                ),
                (4, call(3, "user_set_attr"), []),
                (5, .tick, [.connect(attempt: 3, Script.there)]),
                (6, .connected(attempt: 3), [frame(login)]),
                (
                    7, .received(.loginAnswer(.success(again)), attempt: 3),
                    [
                        .event(.reconnected(complete: false)),
                        .event(.channelLeft(channel: "room", code: .leaveDisconnected)),
                        frame(#"["call2",["user_set_attr",3,{"line":"M","name":"room"}]]"#),
                    ]
                ),
            ])
    }

    @Test func aGatewaysCloseDuringTheLogoutIsItsEnd() {
        var machine = Script.online()
        play(
            &machine,
            [
                (0, .logOut, [frame(#"["call2",["user_logout",1,{"line":"L"}]]"#)]),
                (
                    1, .received(.close("kick"), attempt: 1),
                    [.disconnect, .event(.loggedOut(ClientStateMachine.loggedOutByUser))]
                ),
            ])
    }

    /// An older gateway does not number its answer to a join, so that the client cannot ask for what it missed.
    @Test func aResumeIsIncompleteWhenTheJoinHadNoNumber() {
        var machine = Script.online()
        play(
            &machine,
            [
                (0, call(1, "channel_join"), [frame(#"["call2",["channel_join",1,{"line":"L","name":"room"}]]"#)]),
                (1, answered(1, attempt: 1), [.answer(ticket: 1, Script.ok)]),
                (2, .disconnected(attempt: 1), [.disconnect, .event(.reconnecting(attempt: 1))]),
                (2, .tick, [.connect(attempt: 3, Script.there)]),
                (3, .connected(attempt: 3), [frame(#"["line_login",{"line":"L","channel":"room"}]"#)]),
                (
                    4, .received(Script.resumed(channel: "room"), attempt: 3),
                    [.event(.reconnected(complete: false))]
                ),
            ])
    }
}
