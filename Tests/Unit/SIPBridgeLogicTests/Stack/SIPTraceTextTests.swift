import SIPBridgeLogic
import Testing

@Suite struct SIPTraceTextTests {
    @Test func secretsAreLeftOut() {
        let text =
            "INVITE sip:a@b SIP/2.0\r\nVia: v\r\nproxy-authorization : Digest response=\"abc\"\r\nAuthorization: "
            + "Digest x\r\n\r\nv=0\r\na=crypto:1 AES inline:secret\r\na=sendrecv\r\n"
        let shown = SIPTraceText.redacted(text)
        #expect(!shown.contains("abc") && !shown.contains("Digest") && !shown.contains("secret"))
        #expect(shown.contains("Via: v\r\n") && shown.contains("v=0\r\n") && shown.contains("a=sendrecv\r\n"))
    }

    @Test func digitsAreLeftOut() {
        let shown = SIPTraceText.redacted("INFO sip:a@b SIP/2.0\r\nVia: v\r\n\r\nSignal=5\r\n")
        #expect(shown.contains("Via: v") && !shown.contains("Signal"))
    }
}
