import Testing
import WebhookClient

@Suite struct WebhookSignatureTests {
    /// Computed with Python: hmac.new(b"whsec-0123456789abcdef",
    /// b'1795247975.{"app":"a","events":[]}', "sha256").hexdigest()
    @Test func signatureOfAKnownVector() {
        #expect(
            WebhookSignature.header(
                of: #"{"app":"a","events":[]}"#, secret: "whsec-0123456789abcdef", time: 1_795_247_975)
                == "t=1795247975,v1=76fdc5dd223d6644749eead80c478795f2e7fe9e50bcb4647a5bb2121933df6b")
    }
}
