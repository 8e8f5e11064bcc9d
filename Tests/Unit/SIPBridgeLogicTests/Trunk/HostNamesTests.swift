import Testing

@testable import SIPBridgeLogic

@Suite("HostNames")
struct HostNamesTests {
    private let names = HostNames(
        hostsFile: "::1 localhost\n127.0.0.1\tlocalhost  Local # me\n#10.0.0.1 no\n10.0.0.2 local trunk.test\n")

    @Test("The first IPv4 address of a name")
    func lookup() {
        #expect(names.address(of: "LOCALHOST") == "127.0.0.1")
        #expect(names.address(of: "local") == "127.0.0.1")
        #expect(names.address(of: "trunk.test") == "10.0.0.2")
        #expect(names.address(of: "no") == nil)
    }

    @Test(
        "A known host name in a URI is replaced",
        arguments: [
            ("sip:localhost", "sip:127.0.0.1"),
            ("sip:+1;x=localhost@trunk.test:5061;transport=tls", "sip:+1;x=localhost@10.0.0.2:5061;transport=tls"),
            ("sip:a@trunk.test;maddr=local", "sip:a@10.0.0.2;maddr=local"),
            ("sip:local@else.test", "sip:local@else.test"),
            ("local", "local"),
        ])
    func uris(uri: String, expected: String) { #expect(names.replaced(in: uri) == expected) }
}
