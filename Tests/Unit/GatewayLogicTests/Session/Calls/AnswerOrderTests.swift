import BusProtocol
import Pacing
import SignalingProtocol
import Testing

@testable import GatewayLogic

/// Whole conversations: a session's messages are answered in the order in which they came, whatever becomes of each.
@Suite struct AnswerOrderTests {
    private typealias Talk = Conversation

    private static let toBob = #""peer":"bob","content":"hello""#

    private func active() throws -> Conversation {
        let talk = try Conversation()
        try talk.logIn()
        return talk
    }

    /// Answers the session's message that is the `number`-th from 0.
    private func answer(
        _ talk: Conversation, _ id: Int, number: Int32, _ error: SignalingError? = nil
    ) -> [SessionAction] {
        talk.tell(.messageAnswered(talk.messageTicket(id, number: number), error, channel: nil))
    }

    /// In a cluster the masters of the receivers answer when they can.
    @Test func messagesAreAnsweredInTheirOrder() throws {
        let talk = try active()
        for id in 1...4 { _ = try talk.calls("user_sendmsg", id, Self.toBob) }
        let error = SignalingError.unavailable("redis")
        #expect(answer(talk, 3, number: 2, error) == [])
        #expect(answer(talk, 2, number: 1) == [])
        #expect(answer(talk, 1, number: 0) == [Talk.ok(1), Talk.ok(2)] + Talk.failed(3, error))
        #expect(answer(talk, 4, number: 3) == [Talk.ok(4)])
    }

    @Test func aMessageThatTimesOutIsAnsweredBeforeThoseBehindIt() throws {
        let talk = try active()
        for id in 1...2 { _ = try talk.calls("user_sendmsg", id, Self.toBob) }
        #expect(answer(talk, 2, number: 1) == [])
        let timeout = SignalingError.timeout(.messageTimeout)
        #expect(answer(talk, 1, number: 0, timeout) == Talk.failed(1, timeout) + [Talk.ok(2)])
        _ = try talk.calls("user_sendmsg", 3, Self.toBob)
        #expect(answer(talk, 3, number: 2) == [Talk.ok(3)])
    }

    @Test func aMessageThatIsRefusedAtOnceWaitsForThoseBeforeIt() throws {
        let talk = try active()
        _ = try talk.calls("user_sendmsg", 1, Self.toBob)
        #expect(try talk.says(#"["call2",["user_sendmsg",2,{"line":"x",\#(Self.toBob)}]]"#) == [])
        _ = try talk.calls("user_sendmsg", 3, Self.toBob)
        let refusal = SignalingError(.notLoggedIn, .badLine, "the line is not that of this connection's session")
        #expect(answer(talk, 3, number: 2) == [])
        #expect(answer(talk, 1, number: 0) == [Talk.ok(1)] + Talk.failed(2, refusal) + [Talk.ok(3)])
    }

    @Test func aMessageWhoseTimeIsOverBeforeItsStartHoldsNoAnswerBack() throws {
        let talk = try active()
        _ = try talk.calls("channel_query_num", 1, #""name":"room""#)
        let query = talk.ticket(1)
        #expect(try talk.calls("user_sendmsg", 2, Self.toBob) == [])
        talk.clock.localTime = talk.clock.localTime + talk.clock.callTimeout
        #expect(try talk.calls("user_sendmsg", 3, Self.toBob) == [])
        _ = talk.tell(.answered(query, .failure(.timeout(.userNumberTimeout))))
        #expect(talk.tell(.nextTurn) == [.count(.overdue)] + Talk.failed(2, .timeout(.messageTimeout)))
        guard case .sendMessage(let call, _)? = talk.tell(.nextTurn).first else {
            Issue.record("the message behind it does not start")
            return
        }
        #expect(talk.tell(.messageAnswered(call.ticket, nil, channel: nil)) == [Talk.ok(3)])
    }

    /// A client may give several calls the same id; each answer has to be that of its call.
    @Test func messagesOfTheSameIDGetTheirOwnAnswers() throws {
        let talk = try active()
        for _ in 1...2 { _ = try talk.calls("user_sendmsg", 1, Self.toBob) }
        let error = SignalingError.unavailable("redis")
        #expect(answer(talk, 1, number: 1, error) == [])
        #expect(answer(talk, 1, number: 0) == [Talk.ok(1)] + Talk.failed(1, error))
    }
}
