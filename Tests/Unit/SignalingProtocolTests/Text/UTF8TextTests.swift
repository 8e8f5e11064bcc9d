import SignalingProtocol
import Testing

@Suite("UTF-8")
struct UTF8TextTests {
    private func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer { UTF8Text.isValid($0) } }

    /// The standard library's verdict, to compare with.
    private func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    @Test func theStandardLibraryAgreesOnAllPairsOfBytes() {
        for first in UInt8.min...UInt8.max {
            let differing = (UInt8.min...UInt8.max).filter { isValid([first, $0]) != isText([first, $0]) }
            #expect(differing.isEmpty, "after \(first)")
        }
    }

    /// Every lead byte, followed by bytes at and just outside the bounds of their ranges. With 15 and 16 ASCII bytes
    /// before it, the sequence begins inside an 8-byte word of the ASCII fast path, or right after one.
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
