import Testing

@testable import MediaEngineLogic

@Suite struct AudioQualityTests {
    @Test(arguments: [
        (0.0, AudioQuality.excellent), (3, .good), (5, .poor), (10, .bad), (20, .veryBad), (100, .veryBad),
        (-5, .excellent),
    ])
    func loss(percent: Double, quality: AudioQuality) {
        #expect(AudioQuality(delay: .milliseconds(20), lostPercent: percent) == quality)
    }

    @Test func delay() {
        #expect(AudioQuality(delay: .milliseconds(200), lostPercent: 0) == .excellent)
        #expect(AudioQuality(delay: .milliseconds(280), lostPercent: 0) == .good)
        #expect(AudioQuality(delay: .milliseconds(350), lostPercent: 0) == .poor)
        #expect(AudioQuality(delay: .milliseconds(450), lostPercent: 0) == .bad)
        #expect(AudioQuality(delay: .milliseconds(600), lostPercent: 0) == .veryBad)
    }

    @Test func theRatingsParts() {
        #expect(AudioQuality.rating(delay: .zero, lostPercent: 0) == 93.2)
        // 0.024 * 277.3 + 0.11 * 100 = 17.655, and 95 * 5 / 25 = 19.
        let delay = MediaInterval(microseconds: 277_300)
        #expect(abs(AudioQuality.rating(delay: delay, lostPercent: 5) - (93.2 - 17.6552 - 19)) < 1e-9)
        #expect(AudioQuality.rating(delay: .milliseconds(-5), lostPercent: -1) == 93.2)
        #expect(
            [AudioQuality.unknown, .excellent, .good, .poor, .bad, .veryBad, .down].map(\.rawValue) == Array(0...6))
    }
}
