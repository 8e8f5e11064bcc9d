import Testing

@testable import SIPBridgeLogic

@Suite("Answers to SIP requests")
struct SIPResponderTests {
    let responder = SIPResponder { _ in "t1" }

    private func outcome(_ text: String) -> SIPOutcome {
        responder.outcome(of: Array(text.utf8), sourceAddress: "192.0.2.7", sourcePort: 4444)
    }

    private func request(
        _ start: String = "OPTIONS sip:a@b SIP/2.0", via: String = "SIP/2.0/UDP 192.0.2.7;branch=z9hG4bK1",
        cseq: String = "1 OPTIONS", more: String = ""
    ) -> String {
        "\(start)\r\nVia: \(via)\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: x\r\nCSeq: \(cseq)\r\n\(more)\r\n"
    }

    private func reply(_ text: String) throws -> (reply: SIPReply, lines: [String]) {
        guard case .reply(let reply) = outcome(text) else {
            throw ExpectedReply(outcome: outcome(text))
        }
        let answer = String(decoding: reply.bytes, as: UTF8.self)
        #expect(answer.hasSuffix("\r\n\r\n"))
        return (reply, answer.split(separator: "\r\n").map(String.init))
    }

    private struct ExpectedReply: Error { let outcome: SIPOutcome }

    @Test("OPTIONS is answered byte for byte as documented")
    func golden() throws {
        let via = "SIP/2.0/UDP pc.example.com:5070;rport;branch=z9hG4bK1, SIP/2.0/TCP far.example.com"
        let (reply, lines) = try reply(request(via: via, more: "v: SIP/2.0/UDP last\r\n"))
        #expect(reply.status == 200)
        #expect(reply.method == "OPTIONS")
        #expect(reply.port == 4444)
        #expect(
            lines == [
                "SIP/2.0 200 OK",
                "Via: SIP/2.0/UDP pc.example.com:5070;rport=4444;branch=z9hG4bK1;received=192.0.2.7",
                "Via: SIP/2.0/TCP far.example.com", "Via: SIP/2.0/UDP last", "From: <sip:a@b>;tag=1",
                "To: <sip:c@d>;tag=t1", "Call-ID: x", "CSeq: 1 OPTIONS", "Allow: OPTIONS", "Accept: application/sdp",
                "Accept-Encoding: identity", "Accept-Language: en", "Supported:", "Content-Length: 0",
            ])
    }

    @Test("Without rport the answer goes to the port of the Via, with received only when the host differs")
    func ports() throws {
        #expect(try reply(request()).reply.port == 5060)
        #expect(try reply(request()).lines[1] == "Via: SIP/2.0/UDP 192.0.2.7;branch=z9hG4bK1")
        let (other, lines) = try reply(request(via: "SIP/2.0/UDP [2001:db8::9]:5070;received=9.9.9.9"))
        #expect(other.port == 5070)
        #expect(lines[1] == "Via: SIP/2.0/UDP [2001:db8::9]:5070;received=192.0.2.7")
    }

    @Test("An existing To tag stays")
    func toTag() throws {
        let text = request().replacing("To: <sip:c@d>", with: "To: \"a;tag=b\" <sip:c@d>;Tag=7")
        #expect(try reply(text).lines.contains("To: \"a;tag=b\" <sip:c@d>;Tag=7"))
    }

    @Test(
        "Other methods and demands",
        arguments: [
            ("INVITE sip:a@b SIP/2.0", "1 INVITE", "", 405), ("BYE sip:a@b SIP/2.0", "1 BYE", "", 405),
            ("NONSENSE sip:a@b SIP/2.0", "1 NONSENSE", "", 501), ("options sip:a@b SIP/2.0", "1 options", "", 501),
            ("OPTIONS sip:a@b SIP/3.0", "1 OPTIONS", "", 505), ("OPTIONS foo:a SIP/2.0", "1 OPTIONS", "", 416),
            ("OPTIONS sip:a@b SIP/2.0", "1 OPTIONS", "Require: 100rel, x\r\n", 420),
            ("OPTIONS sip:a@b SIP/2.0", "1 INVITE", "", 400), ("OPTIONS sip:a@b", "1 OPTIONS", "", 400),
            ("OPTIONS sip:a@b SIP/2.0", "2147483648 OPTIONS", "", 400),
            ("OPTIONS sip:a@b SIP/2.0", "1 OPTIONS", "Content-Length: 5\r\n", 400),
            ("OPTIONS sip:a@b SIP/2.0", "1 OPTIONS", "Content-Length: -1\r\n", 400),
            ("OPTIONS sip:a@b SIP/2.0", "1 OPTIONS", "Content-Length: 0\r\nl: 0\r\n", 400),
            ("OPTIONS sip:a@b SIP/2.0", "1 OPTIONS", "To: <sip:e@f>\r\n", 400),
            ("OPTIONS sip:a@b SIP/2.0", "1 OPTIONS", "no header\r\n", 400),
        ])
    func statuses(start: String, cseq: String, more: String, status: Int) throws {
        let (reply, lines) = try reply(request(start, cseq: cseq, more: more))
        #expect(reply.status == status)
        if status == 405 || status == 501 { #expect(lines.contains("Allow: OPTIONS")) }
        if status == 420 { #expect(lines.contains("Unsupported: 100rel") && lines.contains("Unsupported: x")) }
    }

    @Test("What must not or can't be answered is dropped")
    func drops() {
        #expect(outcome(request("ACK sip:a@b SIP/2.0", cseq: "1 ACK")) == .drop(.acknowledgement))
        #expect(outcome(request("ACK sip:a@b SIP/2.0", cseq: "broken")) == .drop(.acknowledgement))
        #expect(outcome("\r\n\r\n") == .drop(.keepAlive))
        #expect(outcome("") == .drop(.keepAlive))
        #expect(outcome("SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP h\r\n\r\n") == .drop(.response))
        #expect(outcome("hello") == .drop(.malformed))
        #expect(outcome("OPTIONS sip:a@b SIP/2.0\r\nFrom: <sip:a@b>\r\n\r\n") == .drop(.malformed))
        #expect(outcome(request(via: "SIP/2.0/UDP host:99999")) == .drop(.malformed))
        #expect(outcome(request(via: "\"SIP/2.0/UDP host")) == .drop(.malformed))
        #expect(outcome(String(repeating: "x", count: SIPLimits.messageBytes + 1)) == .drop(.tooLong))
    }

    @Test("Too many fields end in a 400, too many Vias in silence")
    func bounds() throws {
        let fields = String(repeating: "X: y\r\n", count: SIPLimits.headers)
        #expect(try reply(request(more: fields)).reply.status == 400)
        let vias = Array(repeating: "SIP/2.0/UDP h", count: SIPLimits.headers + 1).joined(separator: ",")
        #expect(outcome(request(via: vias)) == .drop(.malformed))
    }

    @Test("A message cut off anywhere neither crashes nor gets a 200")
    func cutOff() {
        let whole = Array(request(via: "SIP/2.0/UDP \"q\\\"\" ;rport", more: "Require:\r\n a,\r\n b\r\n").utf8)
        for length in whole.indices {
            let outcome = responder.outcome(
                of: Array(whole[..<length]), sourceAddress: "192.0.2.7", sourcePort: 4444)
            if case .reply(let reply) = outcome { #expect(reply.status == 400) }
        }
    }

    @Test("An answer has no line that the request smuggled in")
    func noSmuggling() throws {
        let text = request().replacing("Call-ID: x", with: "Call-ID: x\rSet: y")
        let (reply, lines) = try reply(text)
        #expect(reply.status == 400)
        #expect(!lines.contains { $0.contains("Set") })
    }
}
