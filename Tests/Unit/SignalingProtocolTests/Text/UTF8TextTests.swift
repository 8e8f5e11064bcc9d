import SignalingProtocol
import Testing

@Suite("UTF-8")
struct UTF8TextTests {
    private func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer { UTF8Text.isValid($0) } }

    /// What the standard library says.
    private func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    @Test func theStandardLibraryAgreesOnAllPairsOfBytes() {
        for first in UInt8.min...UInt8.max {
            let differing = (UInt8.min...UInt8.max).filter { isValid([first, $0]) != isText([first, $0]) }
            #expect(differing.isEmpty, "after \(first)")
        }
    }

    /// Every lead byte with second, third and fourth bytes at and beyond the edges of their ranges, alone and after 15 and 16
    /// ASCII bytes, so that the words of ASCII end within and before the sequence.
    @Test(arguments: [0, 15, 16]) func theStandardLibraryAgreesOnTheEdges(padding: Int) {
        let edges: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        let prefix = [UInt8](repeating: 0x61, count: padding)
        for lead in UInt8(0x80)...0xFF {
            let sequences = edges.flatMap { second in edges.map { [lead, second, $0] } }
            let endings: [[UInt8]] = [[], [0x80], [0xBF], [0x61], [0x80, 0x61]]
            let longer = sequences.flatMap { sequence in endings.map { sequence + $0 } }
            let differing = longer.filter { isValid(prefix + $0) != isText(prefix + $0) }
            #expect(differing.isEmpty)
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
