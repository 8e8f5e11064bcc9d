import Testing
import WebSocketWire

@Suite struct WebSocketHandshakeTests {
    @Test func theExampleOfTheRFC() {
        #expect(WebSocketHandshake.accept(key: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(arguments: [
        "", "x", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZ===", "dGhlIHNhbXBsZSBub25jZTE=",
        "dGhlIHNhbXBsZSBub25j ZQ==", "dGhlIHNhbXBsZSBub25j-Q==", "dGhlIHNhbXBsZSBub25jZQ==x", "ä1234567890123456789A==",
    ])
    func keysAreSixteenBytes(key: String) {
        #expect(WebSocketHandshake.accept(key: key) == nil)
    }
}
