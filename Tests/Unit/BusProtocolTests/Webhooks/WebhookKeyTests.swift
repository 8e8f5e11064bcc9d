import BusProtocol
import SignalingProtocol
import Testing

@Suite struct WebhookKeyTests {
    @Test(arguments: ["a", "default", "archive-2", String(repeating: "z", count: 32)])
    func names(text: String) { #expect(WebhookName(text)?.rawValue == text) }

    @Test(arguments: [
        "", "A", "2a", "-a", "a b", "a_b", "a/b", "ä", "a\n", String(repeating: "z", count: 33),
    ])
    func whatIsNoName(text: String) { #expect(WebhookName(text) == nil) }

    @Test func theStandardNameIsNotShown() throws {
        let app = try AppID("demo")
        #expect(WebhookKey(app: app).description == "demo")
        #expect(WebhookKey(app: app, name: try #require(WebhookName("archive"))).description == "demo/archive")
    }
}
