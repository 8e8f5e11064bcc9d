import Testing

@testable import SignalingProtocol

@Suite("Percent escapes")
struct PercentEscapeTests {
    @Test("Every byte that is not kept is escaped, in upper-case digits")
    func keeping() {
        #expect(PercentEscape.escape("a/ü~") { $0 == UInt8(ascii: "a") } == "a%2F%C3%BC%7E")
        #expect(PercentEscape.escape("a.b:c") == "a%2Eb%3Ac")
    }

    @Test("Lower-case digits are accepted only where asked for; malformed escapes never are")
    func lowerCase() {
        #expect(PercentEscape.unescape("%2b%2B", allowsLowerCase: true) == "++")
        #expect(PercentEscape.unescape("%2b") == nil)
        for text in ["%", "%2", "%+1", "%g0", "%c3"] {
            #expect(PercentEscape.unescape(text, allowsLowerCase: true) == nil, "\(text)")
        }
    }
}
