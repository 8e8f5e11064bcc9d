import Testing
import WebhookClient

@Suite struct WebhookRequestTests {
    @Test func bodyKeepsTheOrder() {
        #expect(
            WebhookRequest.body(app: "a", events: [#"{"id":"1"}"#, #"{"id":"2"}"#])
                == #"{"app":"a","events":[{"id":"1"},{"id":"2"}]}"#)
        #expect(WebhookRequest.body(app: #"a"\"#, events: []) == #"{"app":"a\"\\","events":[]}"#)
    }
}
