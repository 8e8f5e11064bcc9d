import Testing
import WebhookClient

@Suite struct WebhookSignatureTests {
    /// Computed with Python: hmac.new(b"whsec-0123456789abcdef",
    /// b'1795247975.{"app":"a","events":[]}', "sha256").hexdigest()
    @Test func signatureOfAKnownVector() {
        #expect(
            WebhookSignature.header(
                of: #"{"app":"a","events":[]}"#, secrets: ["whsec-0123456789abcdef"], time: 1_795_247_975)
                == "t=1795247975,v1=76fdc5dd223d6644749eead80c478795f2e7fe9e50bcb4647a5bb2121933df6b")
    }

    /// The former secret's signature is the last one: code that keeps only that one knows the former secret.
    @Test func eachSecretSigns() {
        let body = #"{"app":"a","events":[]}"#
        #expect(
            WebhookSignature.header(
                of: body, secrets: ["whsec-fedcba9876543210", "whsec-0123456789abcdef"], time: 1_795_247_975)
                == "t=1795247975,v1=baf0528d6095e3d6dbf2f24a2618a72abfb4356e33cc83194ff5a33de2e04c3c,"
                + "v1=76fdc5dd223d6644749eead80c478795f2e7fe9e50bcb4647a5bb2121933df6b")
    }
}
