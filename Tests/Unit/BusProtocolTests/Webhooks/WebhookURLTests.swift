import BusProtocol
import SignalingProtocol
import Testing

@Suite struct WebhookURLTests {
    @Test func partsOfAURL() throws {
        let url = try #require(WebhookURL("https://hooks.example.com:8443/a/b?c=d"))
        #expect(url.isSecure && url.host == "hooks.example.com" && url.port == 8443 && url.target == "/a/b?c=d")
        #expect(url.authority == "hooks.example.com:8443")
    }

    @Test(arguments: [
        ("http://a", "a", 80, "/", "a"), ("HTTPS://a/", "a", 443, "/", "a"), ("https://a:443/x", "a", 443, "/x", "a"),
        ("http://a?b", "a", 80, "/?b", "a"), ("http://[::1]:8/x", "::1", 8, "/x", "[::1]:8"),
        ("http://127.0.0.1:1", "127.0.0.1", 1, "/", "127.0.0.1:1"),
    ])
    func defaults(_ text: String, _ host: String, _ port: Int, _ target: String, _ authority: String) throws {
        let url = try #require(WebhookURL(text))
        #expect(url.host == host && url.port == port && url.target == target && url.authority == authority)
    }

    @Test(arguments: [
        "", "ftp://a/", "http://", "http:///x", "//a/", "http://user@a/", "http://user:x@a/", "http://a/#x",
        "http://a b/",
        "http://a:0/", "http://a:65536/", "http://a:x/", "http://a:/", "http://[::1/", "http://[a]/", "http://a\\@b/",
        "http://ä/", "http://a/\n", "http://a/\u{7F}",
    ])
    func refused(_ text: String) { #expect(WebhookURL(text) == nil) }

    @Test func boundOfTheLength() {
        let start = "http://a/"
        let longest = start + String(repeating: "x", count: WebhookURL.maxBytes - start.utf8.count)
        #expect(WebhookURL(longest) != nil)
        #expect(WebhookURL(longest + "x") == nil)
        #expect(WebhookURL("http://\(String(repeating: "a", count: 253))/") != nil)
        #expect(WebhookURL("http://\(String(repeating: "a", count: 254))/") == nil)
    }
}
