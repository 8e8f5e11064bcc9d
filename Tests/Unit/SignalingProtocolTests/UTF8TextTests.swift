import SignalingProtocol
import Testing

@Suite("UTF-8")
struct UTF8TextTests {
    private func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer { UTF8Text.isValid($0) } }

    /// What the standard library says.
    private func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    @Test func theStandardLibraryAgreesOnAllPairsOfBytes() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                #expect(isValid([first, second]) == isText([first, second]))
            }
        }
    }

    /// Every lead byte with second, third and fourth bytes at and beyond the edges of their ranges, alone and after seven and
    /// eight ASCII bytes, so that the words of eight end within the sequence.
    @Test(arguments: [0, 7, 8]) func theStandardLibraryAgreesOnTheEdges(padding: Int) {
        let edges: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        let prefix = [UInt8](repeating: 0x61, count: padding)
        for lead in UInt8(0x80)...0xFF {
            for second in edges {
                for third in edges {
                    for end in [[], [0x80], [0xBF], [0x61], [0x80, 0x61]] as [[UInt8]] {
                        let bytes = prefix + [lead, second, third] + end
                        #expect(isValid(bytes) == isText(bytes))
                    }
                }
            }
        }
    }

    @Test func textsOfEveryLength() {
        let text = Array("naïve 𝄞 日本語 ~\u{10FFFF}".utf8)
        for count in 0...text.count {
            let part = Array(text[..<count])
            #expect(String(utf8: part[...]) == String(validating: part, as: UTF8.self))
        }
    }
}
