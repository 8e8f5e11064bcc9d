import Testing

@testable import SignalingWire

@Suite struct JSONTextTests {
    /// Special characters at every position in texts of every length, alone and next to bytes that a check of eight
    /// bytes at once could mistake for special characters.
    @Test(arguments: [0x21, 0x23, 0x5B, 0x5D, 0x20, 0x7F, 0x80, 0xA2, 0xDC, 0xFF] as [UInt8])
    func specialsAreFoundWhereverTheyStand(other: UInt8) {
        for length in 0..<34 {
            var text = [UInt8](repeating: other, count: length)
            #expect(first(text) == length)
            for place in 0..<length {
                for special: UInt8 in [0x22, 0x5C, 0x00, 0x1F, 0x0A] {
                    text[place] = special
                    #expect(first(text) == place)
                    #expect(first(text, from: place + 1) == length)
                }
                text[place] = other
            }
        }
    }

    private func first(_ text: [UInt8], from start: Int = 0) -> Int {
        text.withUnsafeBufferPointer { JSONText.firstSpecial(in: $0, from: start) }
    }

    @Test func escapingTwiceIsEscapingWhatWasEscaped() {
        let text = "a\"\\\n\r\t\u{0}\u{1F}é\u{7F}"
        var once: [UInt8] = [], again: [UInt8] = [], twice: [UInt8] = []
        JSONText.appendEscaped(text, to: &once)
        once.withUnsafeBufferPointer { JSONText.appendEscaped($0, to: &again) }
        JSONText.appendEscaped(text, .twice, to: &twice)
        #expect(twice == again)
    }
}
