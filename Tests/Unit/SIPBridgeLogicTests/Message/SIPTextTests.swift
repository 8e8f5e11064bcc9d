import Testing

@testable import SIPBridgeLogic

@Suite("SIP text")
struct SIPTextTests {
    @Test("Header fields are found by their compact and full names")
    func names() {
        let message = SIPSample.request(
            "INFO",
            headers: [
                SIPHeaderField("C", "Application/SDP ; x=1"), SIPHeaderField("k", "timer, 100rel"),
                SIPHeaderField("Supported", "path"),
            ])
        #expect(message.header("content-TYPE") == "Application/SDP ; x=1")
        #expect(message.contentType == "application/sdp")
        #expect(message.tokens("Supported") == ["timer", "100rel", "path"])
        #expect(message.header("f") == "<sip:a@a.test>;tag=1")
        #expect(message.header("x") == nil)
    }

    @Test("The length of a message, and messages that cannot be sent")
    func encoding() {
        let body = SIPBody(type: "a/b", bytes: [1, 2])
        let rest = SIPEncoding.rest(headers: [SIPHeaderField("X-A", "%b %s")], body: body)
        #expect(rest == Array("X-A: %b %s\r\nContent-Type: a/b\r\nContent-Length: 2\r\n\r\n".utf8) + [1, 2])
        #expect(SIPEncoding.rest(headers: [], body: nil) == Array("Content-Length: 0\r\n\r\n".utf8))
        for bad in [SIPHeaderField("X-A", "a\nb"), SIPHeaderField("X:A", "a"), SIPHeaderField("X-\u{e9}", "a")] {
            #expect(SIPEncoding.rest(headers: [bad], body: nil) == nil)
        }
        #expect(SIPEncoding.rest(headers: [], body: SIPBody(type: "a/b\r\n", bytes: [])) == nil)
    }

    @Test("Quotes in display names are escaped")
    func quoting() { #expect(SIPEncoding.quoted("a\"b\\c\r\nd") == "a\\\"b\\\\cd") }

    @Test("The Call-ID of a message on the wire")
    func callID() {
        func scan(_ text: String) -> String? { SIPCallIDScan.callID(in: Array(text.utf8)) }
        #expect(scan("BYE sip:a SIP/2.0\r\nVia: x\r\nCALL-id :  abc \r\n\r\n") == "abc")
        #expect(scan("SIP/2.0 200 OK\ni:abc\n\n") == "abc")
        #expect(scan("SIP/2.0 200 OK\r\nVia: x\r\n\r\nCall-ID: no\r\n") == nil)
        #expect(scan("") == nil)
    }
}
