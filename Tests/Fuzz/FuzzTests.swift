import Foundation
import NIOConcurrencyHelpers
import Testing

/// The short form of `Scripts/fuzz`, without coverage and sanitizers: every input that is kept, and for a moment inputs
/// that are made of them.
@Suite(.serialized) struct FuzzTests {
    /// How long each target gets inputs that are made of others.
    private static let time = Duration.milliseconds(500)
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// What did not hold since the input began.
    fileprivate static let findings = NIOLockedValueBox<[String]>([])

    @Test(arguments: FuzzTarget.all.map(\.name)) func whatMustHoldHolds(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let corpus = try Self.corpus(of: name)
        try #require(!corpus.isEmpty)
        for (file, bytes) in corpus { try #require(Self.findings(of: target, bytes) == [], "\(file)") }
        var maker = InputMaker(of: corpus.map(\.bytes))
        let started = ContinuousClock.now
        while started.duration(to: .now) < Self.time {
            let bytes = maker.next()
            let findings = try Self.keeping(bytes, of: name) { Self.findings(of: target, bytes) }
            try #require(findings == [], "made, in base64: \(Data(bytes).base64EncodedString())")
        }
    }

    /// Otherwise the test above could not fail.
    @Test func aDefectIsFound() {
        #expect(Self.findings(of: .selfTest, Array("SOS!".utf8)) == ["no input calls for help"])
        #expect(Self.findings(of: .selfTest, Array("SOS?".utf8)) == [])
    }

    private static func findings(of target: FuzzTarget, _ bytes: [UInt8]) -> [String] {
        findings.withLockedValue { $0 = [] }
        target.run(FuzzInput(bytes))
        return findings.withLockedValue { $0 }
    }

    /// - Returns: the kept inputs by the names of their files, in one order.
    private static func corpus(of name: String) throws -> [(file: String, bytes: [UInt8])] {
        let folder = folder.appending(path: "corpus/\(name)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            ($0, Array(try Data(contentsOf: folder.appending(path: $0))))
        }
    }

    /// Leaves the input in `.build/fuzz/found` when it ends the process.
    private static func keeping(_ bytes: [UInt8], of name: String, _ act: () -> [String]) throws -> [String] {
        let found = folder.appending(path: "../../.build/fuzz/found")
        try FileManager.default.createDirectory(at: found, withIntermediateDirectories: true)
        let file = found.appending(path: "\(name)-in-tests")
        try Data(bytes).write(to: file)
        let findings = act()
        try FileManager.default.removeItem(at: file)
        return findings
    }
}

/// Notes what does not hold; the input goes on.
func found(_ what: String) { FuzzTests.findings.withLockedValue { $0.append(what) } }

/// Makes inputs of others, as a fuzzer without coverage does: bytes are changed, left out, repeated, or come from
/// another input. The same ones in each run, as far as the time reaches.
private struct InputMaker {
    private static let bound = 4_096

    private let corpus: [[UInt8]]
    private var state: UInt64 = 1

    init(of corpus: [[UInt8]]) { self.corpus = corpus }

    mutating func next() -> [UInt8] {
        var bytes = corpus[number(below: corpus.count)]
        for _ in 0...number(below: 4) { change(&bytes) }
        return Array(bytes.prefix(Self.bound))
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let start = number(below: bytes.count + 1)
        let range = start..<min(bytes.count, start + 1 + number(below: 16))
        switch number(below: 5) {
        case 0: for index in range { bytes[index] = UInt8(truncatingIfNeeded: number(below: 256)) }
        case 1: for index in range { bytes[index] ^= 1 << UInt8(number(below: 8)) }
        case 2: bytes.removeSubrange(range)
        case 3: bytes.insert(contentsOf: bytes[range], at: start)
        default:
            let other = corpus[number(below: corpus.count)]
            bytes.replaceSubrange(start..., with: other.suffix(number(below: other.count + 1)))
        }
    }

    /// A linear congruential generator's high bits: it only has to vary, and to be the same everywhere.
    private mutating func number(below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
