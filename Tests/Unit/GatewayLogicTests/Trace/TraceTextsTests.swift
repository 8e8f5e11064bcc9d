import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayLogic

/// What a trace says of events and frames, and what it must not say.
@Suite struct TraceTextsTests {
    private typealias Talk = Conversation

    private static let failure = SignalingError(.messageOther, .mailboxFull, "it is full")

    private func event(_ json: String, line: String = "") throws -> SessionEvent {
        switch try ClientFrame(decoding: Array(json.utf8), line: line) {
        case .ping(let number): .ping(number)
        case .call(let request): .call(request, bytes: 77, at: ScriptedClock().localTime)
        case .login(let request): .login(request, isAllowed: false)
        case .lineLogin(let request): .lineLogin(request, isAllowed: true)
        case .mediaHello, .media: throw FrameError(.shape, "not these")
        }
    }

    private func call(_ function: String, _ arguments: String) throws -> String? {
        try event(#"["call2",["\#(function)",5,{"line":"\#(Talk.line)",\#(arguments)}]]"#, line: Talk.line)
            .traced(from: "::1")
    }

    @Test(arguments: [
        ("user_sendmsg", #""peer":"ben","t":"instant","content":"SECRET""#, "user_sendmsg to ben"),
        ("user_getmsg", #""ver_clear":4,"max":30"#, "user_getmsg after 4"),
        ("user_logout", #""x":1"#, "user_logout"),
        ("user_query_user_status", #""account":"ben""#, "user_query_user_status of ben"),
        ("user_set_attr", #""name":"mood","value":"SECRET""#, "user_set_attr mood"),
        ("user_get_attr", #""account":"ben","name":"mood""#, "user_get_attr mood of ben"),
        ("user_get_attr_all", #""account":"ben""#, "user_get_attr_all of ben"),
        ("channel_join", #""name":"room""#, "channel_join room"),
        ("channel_leave", #""name":"room""#, "channel_leave room"),
        ("channel_sendmsg", #""name":"room","msg":"SECRET""#, "channel_sendmsg to room"),
        ("channel_set_attr", #""channel":"room","name":"topic","value":"SECRET""#, "channel_set_attr topic of room"),
        ("channel_del_attr", #""channel":"room","name":"topic""#, "channel_del_attr topic of room"),
        ("channel_clear_attr", #""channel":"room""#, "channel_clear_attr of room"),
        ("channel_query_num", #""name":"room""#, "channel_query_num of room"),
        ("channel_query_user_isin", #""name":"room","account":"ben""#, "channel_query_user_isin ben in room"),
        ("channel_query_userlist", #""name":"room""#, "channel_query_userlist of room"),
        ("voip_invite", #""channelName":"room","peer":"ben","extra":"{\"x\":\"SECRET\"}""#, "voip_invite room, ben"),
        ("no_such_function", #""x":"SECRET""#, "cannot be read"),
    ])
    func aCallIsNamed(function: String, arguments: String, summary: String) throws {
        #expect(try call(function, arguments) == "call 5: \(summary), 77 bytes")
    }

    @Test func aLoginIsToldWithoutItsToken() throws {
        let login = try event(#"["login",{"vid":"app","account":"anna","token":"SECRET","device":"web","push":true}]"#)
        #expect(
            login.traced(from: "203.0.113.7")
                == "login by web from 203.0.113.7, takes messages; too many logins from its address have failed")
        #expect(try event(Talk.lineLogin).traced(from: "2001:db8::1") == "resume from 2001:db8::1")
        #expect(try event(#"["ping",1]"#).traced(from: "203.0.113.7") == nil)
    }

    @Test func eventsAreToldInWords() throws {
        let entry = MailboxEntry(version: 8, expiresAt: RedisTime(milliseconds: 9), line: "msg-v2 SECRET")
        let room = try ChannelName("room")
        let expected: [(SessionEvent, String?)] = [
            (.output(isPaused: true), "does not read: output waits"), (.output(isPaused: false), "reads again"),
            (.connectionLost, "connection lost"),
            (.close(.tooMuch), "connection closed by the gateway: it exceeds what it may do"),
            (.session(.superseded(.closeFrame(.logoutKicked))), "session over: 103"),
            (.session(.superseded(.silent)), "session goes on on another connection"),
            (.session(.end(.logoutTokenExpired)), "session ended: \(SignalingCode.logoutTokenExpired.rawValue)"),
            (
                .session(.appAnswered(.failure(Self.failure), session: Talk.session, secret: "SECRET")),
                "the app's settings: \(Self.failure.code.rawValue) mailbox_full: it is full"
            ),
            (.mailbox(.published(entry, after: 7)), "message 8 after 7, 13 bytes"),
            (.mailbox(.resynchronize), "messages may have been missed: the mailbox is read"),
            (
                .channel(.removed(ChannelRemoval(channel: room, change: 1, moveNumber: 1))),
                "removed from room by the app"
            ),
            (.session(.opened(.success(SessionOpened(uid: 7)))), nil), (.nextTurn, nil),
        ]
        for (event, text) in expected { #expect(event.traced(from: "203.0.113.7") == text) }
    }

    @Test func framesAreToldWithoutTheirContent() throws {
        let bob = try Account("bob")
        let entry = MailboxEntry(version: 8, expiresAt: RedisTime(milliseconds: 9), line: "msg-v2 SECRET")
        let pushed = ServerFrame.pushMessage(entry)
        let code = Self.failure.code.rawValue
        let expected: [([UInt8], String?)] = [
            (ServerFrame.callSucceeded(id: "5", .userStatus(bob, online: true)), "answer to 5: ok"),
            (
                ServerFrame.callFailed(id: "5", Self.failure),
                "answer to 5: failed with \(code) mailbox_full: it is full"
            ),
            (ServerFrame.loginSucceeded(line: "SECRET", uid: 7, push: true), "login: ok"),
            (ServerFrame.loginFailed(Self.failure), "login: failed with \(code) mailbox_full: it is full"),
            (
                ServerFrame.lineLoginSucceeded(line: "SECRET", uid: 7, push: true, channel: nil, complete: true),
                "resume: ok"
            ),
            (ServerFrame.lineLoginFailed(Self.failure), "resume: failed with \(code) mailbox_full: it is full"),
            (ServerFrame.notifyMessage(version: 8), "told of message 8, 20 bytes"),
            (pushed, "told of a message, with its text, \(pushed.count) bytes"),
            (ServerFrame.close(.logoutKicked), "close: kick"), (ServerFrame.pong(.number("1")), nil),
            (Array("{".utf8), "a frame that cannot be read, 1 bytes"),
        ]
        for (frame, text) in expected { #expect(TracedFrame.summary(frame) == text) }
    }

    /// From the login to the end: the subject is known as soon as the client has said it.
    @Test func theSubjectIsKnownFromTheLoginOn() throws {
        let talk = try Conversation()
        #expect(talk.session.subject == nil)
        _ = try talk.says(Talk.login)
        #expect(talk.session.subject == talk.user)
        _ = talk.appAnswers()
        _ = talk.tell(.session(.opened(.success(SessionOpened(uid: 7)))))
        #expect(talk.session.subject == talk.user)
        _ = talk.tell(.connectionLost)
        #expect(talk.session.subject == nil)
    }
}
