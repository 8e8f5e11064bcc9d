import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayLogic

/// Conversations of sessions whose app's server is asked first.
@Suite struct ClientSessionHookTests {
    private typealias Talk = Conversation

    private static let denial = SignalingError(.messageOther, .denied, "no")
    private static let toBob = #""peer":"bob","content":"hello""#

    private func settings(_ points: HookPoint...) throws -> AppSettings {
        let url = try #require(WebhookURL("http://hooks.example.com/"))
        var settings = Talk.settings
        settings.hook = BeforeHook(url: url, secret: "0123456789abcdef", points: HookPoints(points))
        return settings
    }

    /// A session whose app's server is asked about this.
    private func active(_ points: HookPoint...) throws -> Conversation {
        let talk = try Conversation()
        try talk.logIn()
        #expect(talk.tell(.session(.hooks(HookPoints(points)))) == [])
        return talk
    }

    /// The question that is asked, when that is all that is done.
    private func question(_ actions: [SessionAction]) throws -> HookQuestion {
        guard case .request(.askHook(let question))? = actions.first, actions.count == 1 else {
            Issue.record("\(actions)")
            throw Self.denial
        }
        return question
    }

    private func performed(_ actions: [SessionAction]) -> ClientCall.MessageAct? {
        guard case .sendMessage(_, let message)? = actions.first, actions.count == 1 else { return nil }
        return message
    }

    @Test func aLoginIsAskedAboutOnceItsTokenIsChecked() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        let asked = try question(talk.appAnswers(.success(settings(.login))))
        #expect(asked == .login(talk.user, token: "_no_need_token", device: "d"))
        #expect(
            asked.body(address: "192.0.2.1")
                == #"{"hook":"login","app":"app","account":"anna","token":"_no_need_token","device":"d","address":"192.0.2.1"}"#
        )
        let actions = talk.tell(.hookAnswered(asked, .allowed))
        guard case .session(.bind(Talk.session))? = actions.first, case .request(.open)? = actions.last,
            actions.count == 2
        else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test func aLoginWithoutItsTokenIsNotAskedAbout() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        var strict = try settings(.login)
        strict.tokenRequired = true
        let actions = talk.appAnswers(.success(strict))
        #expect(!actions.contains { if case .request(.askHook) = $0 { true } else { false } })
        #expect(!actions.isEmpty)
    }

    @Test func aDeniedLoginCountsAsFailed() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        let asked = try question(talk.appAnswers(.success(settings(.login))))
        let error = SignalingError(.loginOther, .denied, "no")
        let actions = talk.tell(.hookAnswered(asked, .refused(error)))
        #expect(
            actions == [
                .count(.loginFailure(isOfTheLogin: true)), Talk.send(ServerFrame.loginFailed(error)), .close(.normal),
            ])
    }

    @Test func aConnectionThatIsLostMeanwhileLeavesNoSession() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        let asked = try question(talk.appAnswers(.success(settings(.login))))
        _ = talk.tell(.connectionLost)
        #expect(talk.tell(.hookAnswered(asked, .allowed)) == [])
    }

    @Test func anotherLoginWaitsForTheFirst() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        let asked = try question(talk.appAnswers(.success(settings(.login))))
        #expect(try talk.says(Talk.login) == [])
        _ = talk.tell(.hookAnswered(asked, .allowed))
        let actions = talk.tell(.session(.opened(.success(SessionOpened(uid: 7)))))
        let error = SignalingError(.alreadyLoggedIn, .alreadyLoggedIn, "this connection is already logged in")
        #expect(actions.contains(Talk.send(ServerFrame.loginFailed(error))))
    }

    @Test func otherHooksDoNotConcernALogin() throws {
        let talk = try Conversation()
        _ = try talk.says(Talk.login)
        let actions = talk.appAnswers(.success(try settings(.join, .send)))
        #expect(actions.contains { if case .request(.open) = $0 { true } else { false } })
        _ = talk.tell(.session(.opened(.success(SessionOpened(uid: 7)))))
        _ = talk.tell(.mailbox(.loaded(.success(Talk.page([])))))
        _ = try question(talk.calls("user_sendmsg", 1, Self.toBob))
    }

    @Test func messagesWaitForTheAnswerToTheFirst() throws {
        let talk = try active(.send)
        let first = try question(talk.calls("user_sendmsg", 1, Self.toBob))
        #expect(
            first.body(address: "")
                == #"{"hook":"send","app":"app","account":"anna","uid":7,"to":"bob","text":"hello"}"#)
        #expect(try talk.calls("channel_sendmsg", 2, #""name":"room","msg":"hi""#) == [])
        #expect(!talk.hasNextTurn)
        let to = ClientCall.MessageAct.toUser(try Account("bob"), seconds: 3600, content: "hello")
        #expect(performed(talk.tell(.hookAnswered(first, .allowed))) == to)
        #expect(!talk.hasNextTurn)
        #expect(talk.tell(.messageAnswered(talk.ticket(1), nil, channel: nil)) == [Talk.ok(1)])
        #expect(talk.hasNextTurn)
        let second = try question(talk.tell(.nextTurn))
        #expect(
            second.body(address: "")
                == #"{"hook":"send","app":"app","account":"anna","uid":7,"channel":"room","text":"hi"}"#)
        // Refused, it holds up nothing.
        #expect(try talk.calls("user_sendmsg", 3, Self.toBob) == [])
        #expect(talk.tell(.hookAnswered(second, .refused(Self.denial))) == Talk.failed(2, Self.denial))
        #expect(talk.hasNextTurn)
        _ = try question(talk.tell(.nextTurn))
    }

    @Test func aMessageGetsAnotherText() throws {
        let talk = try active(.send)
        let asked = try question(talk.calls("channel_sendmsg", 1, #""name":"room","msg":"hi","force":true"#))
        let act = ClientCall.MessageAct.toChannel(try ChannelName("room"), body: "***", force: true)
        #expect(performed(talk.tell(.hookAnswered(asked, .rewritten(as: "***")))) == act)
    }

    @Test func messagesThatCameBeforeTheHookAreAnsweredFirst() throws {
        let talk = try active()
        for id in 1...2 { #expect(try performed(talk.calls("user_sendmsg", id, Self.toBob)) != nil) }
        _ = talk.tell(.session(.hooks(HookPoints([.send]))))
        #expect(try talk.calls("user_sendmsg", 3, Self.toBob) == [])
        _ = talk.tell(.messageAnswered(talk.messageTicket(2, number: 1), nil, channel: nil))
        #expect(!talk.hasNextTurn)
        #expect(talk.tell(.messageAnswered(talk.messageTicket(1), nil, channel: nil)) == [Talk.ok(1), Talk.ok(2)])
        #expect(talk.hasNextTurn)
        _ = try question(talk.tell(.nextTurn))
        // Without the hook they overlap again.
        _ = talk.tell(.session(.hooks(HookPoints())))
        _ = talk.tell(.messageAnswered(talk.ticket(3), nil, channel: nil))
        for id in 4...5 { #expect(try performed(talk.calls("user_sendmsg", id, Self.toBob)) != nil) }
    }

    @Test func aMessageThatWaitedForTheHookIsAskedAbout() throws {
        let talk = try active()
        _ = try talk.calls("user_query_user_status", 1, #""account":"bob""#)
        #expect(try talk.calls("user_sendmsg", 2, Self.toBob) == [])
        _ = talk.tell(.session(.hooks(HookPoints([.send]))))
        _ = talk.tell(.answered(talk.ticket(1), .success(.userStatus(try Account("bob"), online: true))))
        let asked = try question(talk.tell(.nextTurn))
        #expect(try talk.calls("user_sendmsg", 3, Self.toBob) == [])
        #expect(performed(talk.tell(.hookAnswered(asked, .allowed))) != nil)
    }

    @Test func aJoinIsAskedAbout() throws {
        let talk = try active(.join)
        let asked = try question(talk.calls("channel_join", 1, #""name":"room""#))
        #expect(
            asked.body(address: "") == #"{"hook":"join","app":"app","account":"anna","uid":7,"channel":"room"}"#)
        #expect(talk.tell(.hookAnswered(asked, .allowed)) == [.request(.subscribe(try talk.channel("room")))])
        _ = talk.tell(.channel(.subscribed(try talk.channel("room"), true, last: nil, left: nil)))
        _ = talk.tell(.channel(.joined(talk.ticket(), .success(talk.joined()))))
        #expect(talk.session.channel.joined?.name == (try ChannelName("room")))
        // Messages are not.
        #expect(try performed(talk.calls("channel_sendmsg", 2, #""name":"room","msg":"hi""#)) != nil)
    }

    @Test func aDeniedJoinLeavesTheSessionWhereItIs() throws {
        let talk = try active()
        try talk.join("before")
        _ = talk.tell(.session(.hooks(HookPoints([.join]))))
        let asked = try question(talk.calls("channel_join", 2, #""name":"room""#))
        let error = SignalingError(.joinOther, .denied, "no")
        #expect(talk.tell(.hookAnswered(asked, .refused(error))) == Talk.failed(2, error))
        #expect(talk.session.channel.joined?.name == (try ChannelName("before")))
    }

    @Test func aSessionWhoseAppsHookIsNotKnownNeitherJoinsNorSends() throws {
        let talk = try active()
        #expect(talk.tell(.session(.hooks(nil))) == [])
        for (id, code, function, arguments) in [
            (1, SignalingCode.messageOther, "user_sendmsg", Self.toBob),
            (2, SignalingCode.messageOther, "channel_sendmsg", #""name":"room","msg":"hi""#),
            (3, SignalingCode.joinOther, "channel_join", #""name":"room""#),
        ] {
            let error = SignalingError(code, .unavailable, "the app's settings are not available; try again")
            #expect(try talk.calls(function, id, arguments) == Talk.failed(id, error))
        }
        // Now it is known that there is none.
        _ = talk.tell(.session(.hooks(HookPoints())))
        #expect(try performed(talk.calls("user_sendmsg", 4, Self.toBob)) != nil)
    }

    @Test func theAppIsKnownFromTheFirstFrameToTheEnd() throws {
        let talk = try Conversation()
        let fresh = talk.session.app
        #expect(fresh == nil)
        _ = try talk.says(Talk.login)
        let authenticating = talk.session.app
        #expect(authenticating == talk.user.app)
        let asked = try question(talk.appAnswers(.success(settings(.login))))
        let authorizing = talk.session.app
        #expect(authorizing == talk.user.app)
        _ = talk.tell(.hookAnswered(asked, .refused(Self.denial)))
        let ended = talk.session.app
        #expect(ended == nil)
        let other = try Conversation()
        _ = try other.says(Talk.lineLogin)
        let resuming = other.session.app
        #expect(resuming == other.user.app)
    }

    @Test func anAnswerAfterTheEndOfTheSessionDoesNothing() throws {
        let talk = try active(.send)
        let asked = try question(talk.calls("user_sendmsg", 1, Self.toBob))
        _ = talk.tell(.connectionLost)
        #expect(talk.tell(.hookAnswered(asked, .allowed)) == [])
    }
}
