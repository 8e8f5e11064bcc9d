import Testing

@testable import SIPBridgeLogic

@Suite("DTMFDigits")
struct DTMFDigitsTests {
    @Test("All sixteen keys have the codes of RFC 4733")
    func codes() throws {
        for (code, character) in "0123456789*#ABCD".enumerated() {
            let event = try #require(DTMFEvent(character))
            #expect(event.code == UInt8(code))
            #expect(event.character == character)
            #expect(DTMFEvent(code: UInt8(code)) == event)
        }
        #expect(DTMFEvent(code: 16) == nil)
    }

    @Test("A comma is a pause")
    func pause() throws {
        let digits = try DTMFDigits("1,#")
        #expect(digits.steps == [.digit(DTMFEvent("1")!), .pause, .digit(DTMFEvent("#")!)])
    }

    @Test(
        "A character that is not a digit is refused with its position",
        arguments: [("12x", 2), ("E", 0), ("1 2", 1), ("a", 0), ("1\u{301}", 0), ("٣", 0), ("1\r\n", 1)])
    func noDigit(text: String, position: Int) {
        #expect(throws: DTMFError.noDigit(position: position)) { try DTMFDigits(text) }
    }

    @Test("Empty and overlong texts are refused")
    func bounds() throws {
        #expect(throws: DTMFError.empty) { try DTMFDigits("") }
        #expect(try DTMFDigits(String(repeating: "1", count: 128)).steps.count == 128)
        #expect(throws: DTMFError.tooLong(bound: 128)) { try DTMFDigits(String(repeating: "1", count: 129)) }
    }
}
