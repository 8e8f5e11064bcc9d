import BusProtocol
import Pacing
import SignalingProtocol
import SignalingTokens
import SignalingWire
import TestKit
import Testing

@testable import GatewayLogic

/// Plays the events of one connection; each call returns the actions that result.
final class Conversation {
    static let secret = "0123456789abcdef0123456789abcdef"
    static let line = "s-1.\(secret).app.anna"
    static let session = SessionID("s-1")

    var session = ClientSession()
    /// What the session's calls must contain.
    var expectedLine: String { session.line ?? "" }
    /// Whether something that waits may be served after the last event.
    private(set) var hasNextTurn = false
    let clock = ScriptedClock()
    let user: UserKey

    init() throws { user = UserKey(app: try AppID("app"), account: try Account("anna")) }

    var isActive: Bool { session.held != nil }

    func tell(_ event: SessionEvent) -> [SessionAction] {
        let actions = session.handle(event, clock)
        hasNextTurn = actions.hasNextTurn
        return actions.all
    }

    /// Tells an event, and then gives turns while there is one to give, as the driver does.
    func tellUntilDone(_ event: SessionEvent) -> [SessionAction] {
        var actions = tell(event)
        while hasNextTurn { actions += tell(.nextTurn) }
        return actions
    }

    /// The session as the actions of its calls name it.
    var owner: ActiveSession {
        get throws {
            let last = session.login.lastActive
            return try #require(last)
        }
    }

    /// The action that keeps the present rates.
    var keepRates: SessionAction { .session(.keepRates(Self.session, session.rates)) }

    /// Receives a frame from the client.
    func says(_ json: String) throws -> [SessionAction] {
        switch try ClientFrame(decoding: Array(json.utf8), line: expectedLine) {
        case .ping(let number): tell(.ping(number))
        case .call(let request): tell(.call(request, bytes: json.utf8.count, at: clock.localTime))
        case .login(let request): tell(.login(request, isAllowed: true))
        case .lineLogin(let request): tell(.lineLogin(request, isAllowed: true))
        case .mediaHello, .media: throw FrameError(.shape, "a session gets no frames about media")
        }
    }

    /// Receives a call of a function, with the session's line, from the client.
    func calls(_ function: String, _ id: Int = 1, _ arguments: String = "") throws -> [SessionAction] {
        let more = arguments.isEmpty ? "" : ",\(arguments)"
        return try says(#"["call2",["\#(function)",\#(id),{"line":"\#(Self.line)"\#(more)}]]"#)
    }

    /// The ticket of an exclusive call.
    func ticket(_ id: Int = 1) -> CallTicket {
        CallTicket(id: "\(id)", ordering: .exclusive, arrivedAt: clock.localTime)
    }

    /// The ticket of a message.
    /// - Parameter number: how many messages the session has started before it.
    func messageTicket(_ id: Int = 1, number: Int32 = 0) -> CallTicket {
        var ticket = CallTicket(id: "\(id)", ordering: .message, arrivedAt: clock.localTime)
        ticket.number = number
        return ticket
    }

    static let login = #"["login",{"vid":"app","account":"anna","token":"_no_need_token","device":"d"}]"#
    static let lineLogin = #"["line_login",{"line":"\#(line)"}]"#
    static let settings = AppSettings(certificate: "", tokenRequired: false)

    func appAnswers(_ answer: Result<AppSettings, SignalingError> = .success(settings)) -> [SessionAction] {
        tell(.session(.appAnswered(answer, session: Self.session, secret: Self.secret)))
    }

    /// Logs in, up to the first read of the mailbox.
    func logIn(push: Bool = false) throws {
        _ = try says(
            #"["login",{"vid":"app","account":"anna","token":"_no_need_token","device":"d","push":\#(push)}]"#)
        _ = appAnswers()
        _ = tell(.session(.opened(.success(SessionOpened(uid: 7)))))
        _ = tell(.mailbox(.loaded(.success(Self.page([])))))
        #expect(isActive)
    }

    /// Resumes the session, up to the first read of the mailbox.
    func resume(rates: SessionRates? = nil) throws {
        _ = try says(Self.lineLogin)
        _ = tell(.session(.resumed(.success(SessionResumed(uid: 7, channel: nil, push: false)))))
        _ = tell(.session(.ratesTaken(rates)))
        #expect(isActive)
    }

    func join(_ name: String, id: Int64 = 10) throws {
        _ = try calls("channel_join", 1, #""name":"\#(name)""#)
        _ = tell(.channel(.subscribed(try channel(name), true, last: nil, left: nil)))
        _ = tell(.channel(.joined(ticket(), .success(joined(id)))))
        #expect(session.channel.joined?.name == (try ChannelName(name)))
    }

    func channel(_ name: String) throws -> ChannelKey { ChannelKey(app: user.app, name: try ChannelName(name)) }

    func joined(_ id: Int64 = 10) -> JoinedChannel {
        let reply = ChannelJoined(sequence: id, id: id, members: LatestMembers([]), attributes: [])
        return JoinedChannel(reply, members: MemberListText(reply.members))
    }

    static func page(_ versions: [Int64], more: Bool = false) -> MailboxPage {
        var page = MailboxPage(cleared: 0, highest: versions.last ?? 0, entries: versions.map(entry), now: 0)
        page.more = more
        return page
    }

    static func entry(_ version: Int64) -> MailboxEntry {
        MailboxEntry(version: version, expiresAt: 1_000_000, line: "line \(version)")
    }

    /// Whether these actions read the mailbox.
    static func readMailbox(_ actions: [SessionAction]) -> Bool {
        actions.contains { if case .request(.loadMailbox) = $0 { true } else { false } }
    }

    func message(_ id: Int64) throws -> ChannelEvent {
        ChannelEvent(sequence: id, id: id, account: try Account("bob"), uid: 2, kind: .message("\(id)"))
    }

    static func send(_ frame: [UInt8], isAnswer: Bool = false) -> SessionAction { .send(frame, isAnswer: isAnswer) }

    static func ok(_ id: Int = 1, _ body: ReplyBody = .done) -> SessionAction {
        send(ServerFrame.callSucceeded(id: "\(id)", body), isAnswer: true)
    }

    static func failed(_ id: Int = 1, _ error: SignalingError) -> [SessionAction] {
        [send(ServerFrame.callFailed(id: "\(id)", error)), .count(.callFailure)]
    }
}

final class ScriptedClock: SessionEnvironment {
    var localTime: LocalTime = 1000
    var redisTime: RedisTime?
    var unixTime: Int64 = 0
    var callTimeout = LocalTime.Span(.seconds(8))
    var enforcesTokenExpiry = false
}

/// Moments of Redis' clock in tests are written as milliseconds.
extension RedisTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }
}
