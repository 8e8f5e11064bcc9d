import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct HookAnswerTests {
    private static let longest = String(repeating: "x", count: Limits.messageBytes)

    private func read(_ text: String, at point: HookPoint) -> Result<HookAnswer, HookFailure> {
        Result { () throws(HookFailure) in try HookAnswer(Array(text.utf8), at: point) }
    }

    @Test(arguments: HookPoint.allCases)
    func allowAndDenyAreAnswersToEverything(_ point: HookPoint) {
        #expect(read(#"{"answer":"allow"}"#, at: point) == .success(.allow))
        #expect(read(#" {"why":"spam", "answer":"deny"} "#, at: point) == .success(.deny))
    }

    @Test func onlyMessagesAreRewritten() {
        let text = #"{"answer":"rewrite","text":"hi \u2026"}"#
        #expect(read(text, at: .send) == .success(.rewrite("hi …")))
        #expect(read(text, at: .login) == .failure(.answer))
        #expect(read(text, at: .join) == .failure(.answer))
    }

    @Test func aTextHasTheBoundOfMessages() {
        #expect(
            read(#"{"answer":"rewrite","text":"\#(Self.longest)"}"#, at: .send) == .success(.rewrite(Self.longest)))
        #expect(read(#"{"answer":"rewrite","text":"\#(Self.longest)x"}"#, at: .send) == .failure(.answer))
    }

    @Test(arguments: [
        "", "ok", "null", "[]", "{}", #""allow""#, #"{"answer":true}"#, #"{"answer":"ALLOW"}"#, #"{"answer":"allow"}x"#,
        #"{"answer":"rewrite"}"#, #"{"answer":"rewrite","text":5}"#, #"{"answer":"allow""#,
    ])
    func everythingElseIsAFailure(_ text: String) { #expect(read(text, at: .send) == .failure(.answer)) }

    @Test func bytesThatAreNoUTF8AreAFailure() {
        #expect(throws: HookFailure.answer) {
            try HookAnswer(Array(#"{"answer":"allow","x":""#.utf8) + [0xFF], at: .send)
        }
    }

    @Test(arguments: [(HookPoint.login, SignalingCode.loginOther), (.join, .joinOther), (.send, .messageOther)])
    func whatADenialAndAFailureMean(_ point: HookPoint, _ code: SignalingCode) {
        func verdict(_ result: Result<HookAnswer, HookFailure>, failsOpen: Bool) -> (SignalingCode, SignalingReason)? {
            guard case .refused(let error) = HookVerdict(result, at: point, failsOpen: failsOpen) else { return nil }
            return (error.code, error.reason)
        }
        for failsOpen in [false, true] {
            let denied = verdict(.success(.deny), failsOpen: failsOpen)
            #expect(denied?.0 == code && denied?.1 == .denied)
            #expect(verdict(.success(.allow), failsOpen: failsOpen) == nil)
        }
        for cause in HookFailure.allCases {
            let closed = verdict(.failure(cause), failsOpen: false)
            #expect(closed?.0 == code && closed?.1 == .unavailable)
            #expect(HookVerdict(.failure(cause), at: point, failsOpen: true) == .allowed)
        }
    }
}
