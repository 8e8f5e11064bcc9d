import SIPBridgeLogic
import Testing

@Suite struct IncomingHeadersTests {
    @Test func someAreShown() {
        let headers = IncomingHeaders([
            SIPHeaderField("Via", "x"), SIPHeaderField("x-one", "1"),
            SIPHeaderField("P-Asserted-Identity", "<sip:a@b>"),
            SIPHeaderField("Subject", "s"), SIPHeaderField("Diversion", "d"), SIPHeaderField("USER-TO-USER", "u"),
            SIPHeaderField("Authorization", "secret"), SIPHeaderField("x", "1800"),
        ])
        #expect(headers.fields.map(\.value) == ["1", "<sip:a@b>", "d", "u"])
        #expect(headers.omitted == 0)
    }

    @Test func theyAreBounded() {
        let many = IncomingHeaders((0..<20).map { SIPHeaderField("X-\($0)", "v") })
        #expect(many.fields.count == IncomingHeaders.countBound && many.omitted == 4)
        let long = IncomingHeaders([
            SIPHeaderField("X-A", String(repeating: "v", count: IncomingHeaders.valueBound + 1))
        ])
        #expect(long.fields.isEmpty && long.omitted == 1)
        let bytes = IncomingHeaders((0..<16).map { SIPHeaderField("X-\($0)", String(repeating: "v", count: 512)) })
        #expect(bytes.fields.count == IncomingHeaders.byteBound / 512)
    }
}
