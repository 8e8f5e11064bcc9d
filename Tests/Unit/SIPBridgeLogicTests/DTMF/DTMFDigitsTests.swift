import Testing

@testable import SIPBridgeLogic

@Suite("Texts of digits")
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
        "What is no digit is refused with its place",
        arguments: [("12x", 2), ("E", 0), ("1 2", 1), ("a", 0), ("1\u{301}", 0), ("٣", 0), ("1\r\n", 1)])
    func noDigit(text: String, position: Int) {
        #expect(throws: DTMFError.noDigit(position: position)) { try DTMFDigits(text) }
    }

    @Test("Texts have bounds")
    func bounds() throws {
        #expect(throws: DTMFError.empty) { try DTMFDigits("") }
        #expect(try DTMFDigits(String(repeating: "1", count: 128)).steps.count == 128)
        #expect(throws: DTMFError.tooLong(bound: 128)) { try DTMFDigits(String(repeating: "1", count: 129)) }
    }
}

@Suite("Payloads of telephone-event")
struct DTMFPacketTests {
    @Test("Golden bytes")
    func golden() {
        let packet = DTMFPacket(event: 11, isEnd: true, volume: 10, duration: 0x03C0)
        #expect(packet.bytes == [0x0B, 0x8A, 0x03, 0xC0])
        #expect(DTMFPacket(packet.bytes) == packet)
        #expect(DTMFPacket(event: 5, isEnd: false, duration: 160).bytes == [0x05, 0x0A, 0x00, 0xA0])
    }

    @Test("The reserved bit is ignored, and so is what follows the first event; less than four bytes are nothing")
    func lenient() {
        #expect(DTMFPacket([5, 0xCA, 0, 160, 6, 10, 0, 160]) == DTMFPacket(event: 5, isEnd: true, duration: 160))
        #expect(DTMFPacket([5, 0x0A, 0]) == nil)
        #expect(DTMFPacket([UInt8]()) == nil)
    }
}
