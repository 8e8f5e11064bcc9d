@testable import SIPBridgeLogic

/// Messages for tests.
enum SIPSample {
    static func request(
        _ method: String, uri: String = "sip:b@a.test", headers: [SIPHeaderField] = [], body: [UInt8] = []
    ) -> SIPMessage {
        SIPMessage(
            start: .request(SIPURI(text: uri, scheme: "sip", user: "b", host: "a.test")), method: method,
            from: SIPParty(uri: "sip:a@a.test", tag: "1"), to: SIPParty(uri: "sip:b@a.test"), callID: "c", sequence: 1,
            sequenceMethod: method,
            headers: [
                SIPHeaderField("Via", "SIP/2.0/UDP h;branch=z9hG4bK1"), SIPHeaderField("f", "<sip:a@a.test>;tag=1"),
                SIPHeaderField("To", "<sip:b@a.test>"), SIPHeaderField("i", "c"), SIPHeaderField("CSeq", "1 \(method)"),
            ] + headers, body: body, receivedBodyBytes: body.count,
            source: SIPEndpoint(host: "192.0.2.1", port: 5060, transport: .udp))
    }

    static func response(_ status: Int, headers: [SIPHeaderField] = []) -> SIPMessage {
        SIPMessage(
            start: .response(status: status, reason: ""), method: "INVITE",
            from: SIPParty(uri: "sip:a@a.test", tag: "1"),
            to: SIPParty(uri: "sip:b@a.test", tag: "2"), callID: "c", sequence: 1, sequenceMethod: "INVITE",
            headers: headers, source: SIPEndpoint(host: "192.0.2.1", port: 5060, transport: .udp))
    }
}
