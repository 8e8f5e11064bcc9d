import Testing
import WebhooksLogic

@Suite struct WebhookRequestTests {
    /// Computed with Python: hmac.new(b"whsec-0123456789abcdef", b'1795247975.{"app":"a","events":[]}', "sha256").hexdigest()
    @Test func signatureOfAKnownVector() {
        #expect(
            WebhookRequest.signature(
                of: #"{"app":"a","events":[]}"#, secret: "whsec-0123456789abcdef", time: 1_795_247_975)
                == "t=1795247975,v1=76fdc5dd223d6644749eead80c478795f2e7fe9e50bcb4647a5bb2121933df6b")
    }

    @Test func bodyKeepsTheOrder() {
        #expect(
            WebhookRequest.body(app: "a", events: [#"{"id":"1"}"#, #"{"id":"2"}"#])
                == #"{"app":"a","events":[{"id":"1"},{"id":"2"}]}"#)
        #expect(WebhookRequest.body(app: #"a"\"#, events: []) == #"{"app":"a\"\\","events":[]}"#)
    }

    @Test(arguments: [
        (199, nil), (200, true), (204, true), (299, true), (300, nil), (307, nil), (400, nil), (503, nil),
    ])
    func onlySuccessDelivers(_ status: Int, _ succeeds: Bool?) {
        #expect((WebhookOutcome(status: status) == .delivered) == (succeeds ?? false))
    }

    @Test func redirectionsAreAFailureOfTheirOwn() {
        guard case .failed(let failure) = WebhookOutcome(status: 302) else {
            Issue.record("a redirection was followed")
            return
        }
        #expect(failure.cause == .redirect)
    }
}
