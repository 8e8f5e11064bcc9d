import Testing

@testable import SignalingProtocol

@Suite("Hexadecimal text")
struct HexTests {
    @Test("Bytes and numbers are written in lower-case digits")
    func text() {
        #expect(Hex.text([0, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
        #expect(Hex.text([]) == "")
        #expect(Hex.text(0xAB as UInt32) == "000000ab")
        #expect(Hex.text(UInt32.max) == "ffffffff")
        #expect(Hex.text(0x0A_0000_00FF as UInt64) == "0000000a000000ff")
    }

    @Test("A digit of either case has a value, other characters have none")
    func value() {
        #expect("09afAF".utf8.map { Hex.value(of: $0) } == [0, 9, 10, 15, 10, 15])
        #expect("/:@G`g".utf8.allSatisfy { Hex.value(of: $0) == nil })
    }

    @Test("1 to 16 digits of either case are a number")
    func number() {
        #expect(Hex.number("0") == 0)
        #expect(Hex.number("00aF") == 0xAF)
        #expect(Hex.number("FFFFffffFFFFffff") == .max)
    }

    @Test("Other text is no number", arguments: ["", "g", "+1", "-1", " 1", "0x1", "1.", "00000000000000001"])
    func noNumber(_ text: String) {
        #expect(Hex.number(text) == nil)
    }
}
