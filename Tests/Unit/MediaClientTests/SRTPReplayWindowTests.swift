import Testing

@testable import MediaClient

@Suite struct SRTPReplayWindowTests {
    /// The window says what a set of all indices says.
    @Test func asASetOfAllIndices() {
        var window = SRTPReplayWindow()
        var seen: Set<UInt64> = []
        var latest: UInt64 = 1000
        var random: UInt64 = 42
        for _ in 0..<20_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Mostly near the latest, now and then far ahead.
            let spread: UInt64 = random >> 60 == 0 ? 400 : 40
            let index = latest + (random >> 33) % spread - min(latest, (random >> 20) % 150)
            var expected: SRTPError?
            if !seen.isEmpty, index + 128 <= latest {
                expected = .tooOld
            } else if seen.contains(index) {
                expected = .replayed
            }
            var refusal: SRTPError?
            do throws(SRTPError) { try window.check(index) } catch { refusal = error }
            #expect(refusal == expected, "\(index) after \(latest)")
            if refusal == nil {
                window.record(index)
                latest = seen.isEmpty ? index : max(latest, index)
                seen.insert(index)
            }
        }
        #expect(seen.count > 1000)
    }

    @Test func theNearestIndexIsMeant() throws {
        var window = SRTPReplayWindow()
        #expect(try window.index(of: 40_000) == 40_000)
        window.record(10)
        #expect(try window.index(of: 9) == 9)
        #expect(throws: SRTPError.tooOld) { try window.index(of: 65_535) }
        window.record(65_530)
        #expect(try window.index(of: 65_535) == 65_535)
        #expect(try window.index(of: 3) == 65_539)
        window.record(65_540)
        #expect(try window.index(of: 65_531) == 65_531)
        window.record(SRTPSender.highestIndex)
        #expect(throws: SRTPError.tooOld) { try window.index(of: 0) }
    }

    @Test(arguments: [1, 63, 64, 65, 100, 127] as [UInt64])
    func whatTheWindowKeepsWhenItMoves(distance: UInt64) throws {
        var window = SRTPReplayWindow()
        window.record(1000)
        window.record(1000 + distance)
        #expect(throws: SRTPError.replayed) { try window.check(1000) }
        #expect(throws: SRTPError.replayed) { try window.check(1000 + distance) }
        try window.check(1001 + distance)
        if distance > 1 { try window.check(1001) }
        try window.check(1000 + distance - 127 + (distance == 127 ? 1 : 0))
    }
}
