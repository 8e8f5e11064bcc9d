import Testing

@testable import SignalingClient

@Suite("Discovery URLs")
struct DiscoveryURLTests {
    @Test func parts() throws {
        #expect(try DiscoveryURL("http://10.0.0.1:8080").endpoint == GatewayEndpoint(host: "10.0.0.1", port: 8080))
        let secure = try DiscoveryURL("https://lbs.example.org/signal/?x")
        #expect(secure.endpoint == GatewayEndpoint(host: "lbs.example.org", port: 443, secure: true))
        #expect(secure.target(app: "a b&c") == "/signal/getaddr?vid=a%20b%26c")
        #expect(secure.target(app: "a", channel: "t&é#") == "/signal/getaddr?vid=a&channel=t%26%C3%A9%23")
        #expect(try DiscoveryURL("http://[::1]:99").endpoint == GatewayEndpoint(host: "::1", port: 99))
        #expect(try DiscoveryURL("http://[::1]").endpoint == GatewayEndpoint(host: "::1", port: 80))
    }

    @Test(arguments: ["", "lbs.example.org", "ftp://x", "http://", "http://a:b", "http://a:0", "http://u@h/"])
    func refused(text: String) {
        #expect(throws: SignalingError.self) { try DiscoveryURL(text) }
    }

    @Test func answers() throws {
        let body = Array(#"{"web":[["10.0.0.1",8001],["10.0.0.2",8001],["x","y"],["z",0]],"web2":[]}"#.utf8)
        let plain = try DiscoveryURL("http://lbs").endpoints(in: body)
        #expect(
            plain == [GatewayEndpoint(host: "10.0.0.1", port: 8001), GatewayEndpoint(host: "10.0.0.2", port: 8001)])
        #expect(try DiscoveryURL("https://lbs").endpoints(in: body).map(\.port) == [8002, 8002])
        #expect(try DiscoveryURL("http://lbs").endpoints(in: Array("no".utf8)).isEmpty)
    }
}
