import SIPBridgeLogic
import Testing

@Suite struct OutgoingHeadersTests {
    private func problem(_ name: String, _ value: String = "v") -> OutgoingHeaderProblem? {
        var headers = OutgoingHeaders()
        do {
            try headers.add(name: name, value: value)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "X-Campaign", "x-campaign", "X-y_z.1!", "User-to-User", "user-to-user",
    ])
    func theCallersOwnAreTaken(name: String) throws {
        var headers = OutgoingHeaders()
        try headers.add(name: name, value: "a value; with=\"anything\", even \u{e9}")
        #expect(headers.fields.map(\.name) == [name])
    }

    @Test(
        arguments: [
            "Via", "v", "V", "From", "f", "To", "t", "Call-ID", "i", "CSeq", "Contact", "m", "Max-Forwards", "Route",
            "Record-Route", "Content-Length", "l", "Content-Type", "c", "content-encoding", "e", "Authorization",
            "Proxy-Authorization", "PROXY-REQUIRE", "Require", "Supported", "k", "Allow", "Allow-Events", "u",
            "Session-Expires", "x", "Min-SE", "Expires", "Replaces", "Refer-To", "r", "Event", "o", "Identity", "y",
            "P-Asserted-Identity", "P-Preferred-Identity", "Remote-Party-ID", "Privacy", "Diversion", "History-Info",
            "P-Charging-Vector", "P-Charge-Info", "P-Access-Network-Info", "Call-Info", "Alert-Info", "Reason",
            "Subject",
            "Organization", "Priority", "Answer-Mode", "Geolocation", "Made-Up", "XY", "s", "z", "7", "User-Agent",
            "RSeq", "RAck", "Security-Client", "Date", "Timestamp",
        ])
    func whatIsNotListedIsNotTheCallers(name: String) {
        #expect(problem(name) == .reservedName)
    }

    @Test(arguments: [
        "", " X-A", "X-A ", "X A", "X:A", "X\r\nVia", "X\u{0}", "X(A)", "\u{e9}", String(repeating: "x", count: 65),
    ])
    func namesAreTokens(name: String) {
        #expect(problem(name) == .invalidName)
    }

    @Test(arguments: ["a\r\nVia: x", "a\nb", "a\rb", "a\u{0}b", "\u{7f}", "a\u{1b}b"])
    func valuesBeginNoLine(value: String) {
        #expect(problem("X-A", value) == .invalidValue)
    }

    @Test func aNameStandsOnce() throws {
        var headers = OutgoingHeaders()
        try headers.add(name: "X-A", value: "1")
        try headers.add(name: "x-a", value: "2")
        #expect(headers.fields == [SIPHeaderField("x-a", "2")])
    }

    @Test func theyAreBounded() throws {
        var headers = OutgoingHeaders()
        for number in 0..<OutgoingHeaders.countBound { try headers.add(name: "X-\(number)", value: "") }
        #expect(throws: OutgoingHeaderProblem.tooMany) { try headers.add(name: "X-More", value: "") }
        var long = OutgoingHeaders()
        try long.add(name: "X-A", value: String(repeating: "v", count: OutgoingHeaders.byteBound - 3))
        #expect(throws: OutgoingHeaderProblem.tooLong) { try long.add(name: "X-B", value: "") }
        #expect(long.fields.count == 1)
    }
}
