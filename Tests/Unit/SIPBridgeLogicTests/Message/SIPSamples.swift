import SignalingProtocol

@testable import SIPBridgeLogic

/// SIP messages for the tests.
enum SIPSample {
    private static let source = SIPEndpoint(host: "192.0.2.1", port: 5060, transport: .udp)

    static func request(
        _ method: String, uri: String = "sip:b@a.test", headers: [SIPHeaderField] = [], body: [UInt8] = []
    ) -> SIPMessage {
        var message = SIPMessage(
            start: .request(SIPURI(text: uri, scheme: "sip", user: "b", host: "a.test")), method: method,
            from: SIPParty(uri: "sip:a@a.test", tag: "1"), to: SIPParty(uri: "sip:b@a.test"), source: source)
        message.callID = "c"
        message.sequence = 1
        message.headers =
            [
                SIPHeaderField("Via", "SIP/2.0/UDP h;branch=z9hG4bK1"), SIPHeaderField("f", "<sip:a@a.test>;tag=1"),
                SIPHeaderField("To", "<sip:b@a.test>"), SIPHeaderField("i", "c"), SIPHeaderField("CSeq", "1 \(method)"),
            ] + headers
        message.body = body
        message.receivedBodyBytes = body.count
        return message
    }

    static func response(_ status: Int, headers: [SIPHeaderField] = []) -> SIPMessage {
        var message = SIPMessage(
            start: .response(status: status, reason: ""), method: "INVITE",
            from: SIPParty(uri: "sip:a@a.test", tag: "1"), to: SIPParty(uri: "sip:b@a.test", tag: "2"), source: source)
        message.callID = "c"
        message.sequence = 1
        message.headers = headers
        return message
    }
}
