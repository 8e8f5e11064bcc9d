import SignalingProtocol
import SignalingWire
import Testing

@testable import SignalingClient

@Suite("Calls, the mailbox, channel events")
struct CallAndMailTests {
    @Test func unansweredCallsTimeOutWithTheirCodes() {
        var machine = Script.online()
        for function in ["user_sendmsg", "channel_query_num", "voip_invite", "user_set_attr"] {
            _ = machine.call(function, [], now: 0)
        }
        #expect(machine.nextTick(now: 0) == 250)
        #expect(machine.tick(now: 29_999).answers.isEmpty)
        #expect(machine.tick(now: 30_000).answers == [401, 501, 702, 1001])
    }

    @Test func callsBeforeTheLoginAreRefused() {
        var machine = Script.machine()
        #expect(machine.call("user_sendmsg", [], now: 0).actions.answers == [1003])
        _ = machine.start(now: 0)
        #expect(machine.call("user_sendmsg", [], now: 0).actions.answers == [1003])
    }

    @Test func theNumberOfWaitingCallsIsBounded() {
        var configuration = Script.configuration
        configuration.callBound = 2
        var machine = Script.online(configuration)
        for _ in 1...2 { #expect(machine.call("user_sendmsg", [], now: 0).actions.answers.isEmpty) }
        #expect(machine.call("user_sendmsg", [], now: 0).actions.answers == [400])
        #expect(machine.call("user_set_attr", [], now: 0).actions.answers == [1001])
    }

    @Test func aCancelledCallIsAnsweredOnce() {
        var machine = Script.online()
        let call = machine.call("user_set_attr", [], now: 0)
        #expect(machine.cancel(call.id, now: 0).answers == [1001])
        #expect(machine.cancel(call.id, now: 0).isEmpty)
        #expect(machine.received(.callAnswer(id: call.id, Script.ok), attempt: 1, now: 0).isEmpty)
    }

    @Test func aBacklogStaysBelowTheGatewaysLimit() {
        var machine = Script.online()
        _ = machine.disconnected(attempt: 1, now: 0)
        for _ in 1...200 { _ = machine.call("user_sendmsg", [], now: 0) }
        _ = machine.tick(now: 0)
        _ = machine.connected(attempt: 3, now: 0)
        var sent = [(time: Int64(0), count: machine.received(Script.resumed(), attempt: 3, now: 0).sent.count)]
        for now in stride(from: Int64(40), through: 5000, by: 40) {
            sent.append((now, machine.tick(now: now).sent.filter { $0.contains("user_sendmsg") }.count))
        }
        #expect(sent.map(\.count).reduce(0, +) == 200)
        for start in sent.map(\.time) {
            let second = sent.filter { start <= $0.time && $0.time < start + 1000 }.map(\.count).reduce(0, +)
            #expect(second <= 60)
        }
    }

    @Test func aRepeatedInvitationThatIsPendingWasOurs() {
        var machine = Script.online()
        let first = machine.call("voip_invite", [], now: 0)
        let error = Result<JSONValue, SignalingError>.failure(SignalingError(.inviteReinvite, .reinvite, ""))
        #expect(machine.received(.callAnswer(id: first.id, error), attempt: 1, now: 0).answers == [701])
        let second = machine.call("voip_invite", [], now: 0)
        _ = machine.disconnected(attempt: 1, now: 0)
        _ = machine.tick(now: 0)
        _ = machine.connected(attempt: 3, now: 0)
        _ = machine.received(Script.resumed(), attempt: 3, now: 0)
        #expect(machine.received(.callAnswer(id: second.id, error), attempt: 3, now: 0).answers == [0])
    }

    @Test(arguments: [SignalingReason.unavailable, .timeout])
    func aMessageOfUnknownOutcomeIsSentAgainFirst(_ reason: SignalingReason) {
        var machine = Script.online()
        let first = machine.call("user_sendmsg", [JSONMember("messageID", "m1")], now: 0)
        let undecided = Result<JSONValue, SignalingError>.failure(SignalingError(.failed, reason, ""))
        let actions = machine.received(.callAnswer(id: first.id, undecided), attempt: 1, now: 10)
        #expect(actions.answers.isEmpty)
        // The lowest random number means no pause, so the message is sent again at once, before the next one.
        #expect(actions.sent.map { $0.contains(#""m1""#) } == [true])
        #expect(machine.received(.callAnswer(id: first.id, Script.ok), attempt: 1, now: 20).answers == [0])
    }

    @Test func callsBehindAMessageOfUnknownOutcomeWait() {
        var machine = Script.online(lowest: false)
        let first = machine.call("user_sendmsg", [JSONMember("messageID", "m1")], now: 0)
        let undecided = Result<JSONValue, SignalingError>.failure(SignalingError(.failed, .unavailable, ""))
        #expect(machine.received(.callAnswer(id: first.id, undecided), attempt: 1, now: 0).isEmpty)
        #expect(machine.call("user_sendmsg", [JSONMember("messageID", "m2")], now: 0).actions.isEmpty)
        #expect(machine.tick(now: 499).sent.isEmpty)
        let sent = machine.tick(now: 500).sent
        #expect(sent.map { $0.contains(#""m1""#) } == [true, false])
        // Both calls end at their timeouts.
        #expect(machine.received(.callAnswer(id: first.id, undecided), attempt: 1, now: 501).isEmpty)
        #expect(machine.tick(now: 30_000).answers == [401, 401])
    }

    @Test func otherCallsAreNotSentAgainForAnError() {
        var machine = Script.online()
        let call = machine.call("user_set_attr", [], now: 0)
        let undecided = Result<JSONValue, SignalingError>.failure(SignalingError(.failed, .unavailable, ""))
        #expect(machine.received(.callAnswer(id: call.id, undecided), attempt: 1, now: 0).answers == [1001])
    }

    @Test func digitsAreNotRepeated() {
        var machine = Script.online()
        _ = machine.call("voip_invite_msg", [], now: 0)
        #expect(machine.disconnected(attempt: 1, now: 0).answers == [1001])
        _ = machine.call("voip_invite_msg", [], now: 0)
        _ = machine.tick(now: 0)
        _ = machine.connected(attempt: 3, now: 0)
        #expect(machine.received(Script.resumed(), attempt: 3, now: 0).sent.count == 1, "one that was not sent yet")
    }

    @Test func entriesAreTakenOnceAndAcknowledgedInTime() {
        var machine = Script.online()
        let first = machine.received(Script.mail(10, "a b"), attempt: 1, now: 0)
        #expect(first == [.event(.message(InstantMessage(account: "bob", text: "a b", time: 5)))])
        #expect(machine.received(Script.mail(10, "a b"), attempt: 1, now: 0).isEmpty)
        #expect(machine.received(Script.mail(9, "old"), attempt: 1, now: 0).isEmpty)
        #expect(machine.tick(now: 999).isEmpty)
        #expect(machine.tick(now: 1000).sent == [#"["call2",["user_getmsg",1,{"line":"L","ver_clear":10,"max":30}]]"#])
        #expect(machine.tick(now: 2000).isEmpty)
        let empty = Script.ok
        #expect(machine.received(.callAnswer(id: 1, empty), attempt: 1, now: 2000).isEmpty)
        var sent: [String] = []
        for version in Int64(11)...40 {
            sent += machine.received(Script.mail(version, "x"), attempt: 1, now: 2000).sent
        }
        #expect(sent == [#"["call2",["user_getmsg",2,{"line":"L","ver_clear":40,"max":30}]]"#], "after 30 entries")
    }

    @Test func entriesThatComeAgainAfterAResumeAreDroppedAndAcknowledgedAgain() {
        var machine = Script.online()
        _ = machine.received(Script.mail(10, "x"), attempt: 1, now: 0)
        _ = machine.disconnected(attempt: 1, now: 1)
        _ = machine.tick(now: 1)
        _ = machine.connected(attempt: 3, now: 1)
        _ = machine.received(Script.resumed(), attempt: 3, now: 1)
        #expect(machine.received(Script.mail(10, "x"), attempt: 3, now: 1).events.isEmpty)
        #expect(machine.tick(now: 2).sent.count == 1)
    }

    @Test func aGatewayThatDoesNotPushIsPolled() throws {
        var machine = Script.machine()
        _ = machine.start(now: 0)
        _ = machine.connected(attempt: 1, now: 0)
        let answer = ServerMessage.SessionAnswer(line: "L", uid: 7, push: false, channel: nil, complete: false)
        #expect(machine.received(.loginAnswer(.success(answer)), attempt: 1, now: 0).sent.count == 1)
        let none = try JSONValue.parse(Array(#"{"result":"ok","ver_clear":0,"msgs":[]}"#.utf8))
        #expect(machine.received(.callAnswer(id: 1, .success(none)), attempt: 1, now: 0).isEmpty)
        #expect(machine.received(.mailboxNotice(version: 3), attempt: 1, now: 0).sent.count == 1)
        let text = #"{"result":"ok","ver_clear":0,"msgs":[[3,"msg-v2 bob alice f instant 5 hi"]]}"#
        let some = try JSONValue.parse(Array(text.utf8))
        #expect(machine.received(.callAnswer(id: 2, .success(some)), attempt: 1, now: 0).events.count == 1)
    }

    @Test func theClientAcknowledgesInvitationsItself() {
        var machine = Script.online()
        let content = #"{"channel":"room","peer":"bob","extra":"e","peeruid":3}"#
        let line = "msg-v2 bob alice v1:E:60 voip_invite 5 \(content)"
        let actions = machine.received(.mailboxEntry(version: 1, line: line), attempt: 1, now: 0)
        let event = CallEvent(kind: .invited, channel: "room", peer: "bob", uid: 3, extra: "e")
        #expect(actions.events == [.call(event)])
        let arguments = #"{"line":"L","channelName":"room","peer":"bob","extra":""}"#
        #expect(actions.sent == [#"["call2",["voip_invite_ack",1,\#(arguments)]]"#])
    }

    @Test func eventsOfOtherChannelsAreDropped() {
        var machine = Script.online()
        #expect(machine.received(Script.said(1, "early"), attempt: 1, now: 0).isEmpty)
        _ = machine.call("channel_join", [JSONMember("name", "__agora_user_online")], now: 0)
        _ = machine.received(.callAnswer(id: 1, Script.ok), attempt: 1, now: 0)
        #expect(machine.received(Script.said(2, "other"), attempt: 1, now: 0).isEmpty)
        let told = machine.received(Script.said(3, "x", in: "_agora_user_online"), attempt: 1, now: 0).events
        #expect(told == [.channelMessage(channel: "__agora_user_online", account: "bob", uid: 3, text: "x")])
    }

    @Test func anOwnLeaveIsARemoval() {
        func left(_ id: Int64, _ account: String) -> ServerMessage {
            let content = #"{"channel":"room","account":"\#(account)","uid":3}"#
            return .channelEvent(id: id, line: "msg-v2 \(account) - v1:E:0 channel_user_leave 5 \(content)")
        }
        var machine = Script.online()
        _ = machine.call("channel_join", [JSONMember("name", "room")], now: 0)
        _ = machine.received(.callAnswer(id: 1, Script.ok), attempt: 1, now: 0)
        let account = Script.configuration.account
        #expect(
            machine.received(left(2, account + "2"), attempt: 1, now: 0).events
                == [.memberLeft(channel: "room", account: account + "2", uid: 3)])
        #expect(
            machine.received(left(3, account), attempt: 1, now: 0).events
                == [.channelLeft(channel: "room", code: .leaveKicked)])
        #expect(machine.received(Script.said(4, "late"), attempt: 1, now: 0).events.isEmpty)
        #expect(machine.membership.channel == nil)
    }

    @Test func theLossOfTheSessionsChannelIsReported() {
        var machine = Script.online()
        _ = machine.call("channel_join", [JSONMember("name", "room")], now: 0)
        _ = machine.received(.callAnswer(id: 1, Script.ok), attempt: 1, now: 0)
        _ = machine.disconnected(attempt: 1, now: 0)
        _ = machine.tick(now: 0)
        _ = machine.connected(attempt: 3, now: 0)
        let events = machine.received(Script.resumed(), attempt: 3, now: 0).events
        #expect(events == [.reconnected(complete: true), .channelLeft(channel: "room", code: .leaveDisconnected)])
    }

    @Test func theNumberOfCallsInFlightIsBounded() {
        var configuration = Script.configuration
        configuration.callBound = CallTable.flightBound + 1
        var machine = Script.online(configuration)
        for _ in 1...CallTable.flightBound {
            #expect(machine.call("user_get_attr_all", [], now: 0).actions.sent.count == 1)
        }
        #expect(machine.call("user_get_attr_all", [], now: 0).actions.sent.isEmpty)
        #expect(machine.received(.callAnswer(id: 1, Script.ok), attempt: 1, now: 0).sent.count == 1)
    }
}
