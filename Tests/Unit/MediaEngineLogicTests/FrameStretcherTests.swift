import Testing

@testable import MediaEngineLogic

@Suite struct FrameStretcherTests {
    private static let ramp = (0..<960).map { Int16($0 * 30) }

    @Test func aFrameOfItsOwnLengthIsTheSame() {
        var stretcher = FrameStretcher()
        #expect(stretcher.stretch(Self.ramp, to: 960) == Self.ramp)
        #expect(stretcher.stretch([], to: 960) == [])
    }

    @Test(arguments: [959, 961]) func aRampStaysARampAcrossFrames(count: Int) {
        var stretcher = FrameStretcher()
        _ = stretcher.stretch([Int16](repeating: -32_000, count: 960), to: 960)
        let first = stretcher.stretch((1...960).map { Int16(-32_000 + $0 * 30) }, to: count)
        let second = stretcher.stretch((1...960).map { Int16(-3200 + $0 * 30) }, to: count)
        #expect(first.count == count && second.count == count)
        #expect(first.last == -3200 && second.last == 25_600)
        let all = [-32_000] + first + second
        let steps = zip(all, all.dropFirst()).map { Int($1) - Int($0) }
        // 30 * 960 / 959 is 30.03, and 30 * 960 / 961 is 29.97: rounded down, never a step of a whole sample.
        #expect(steps.allSatisfy { (29...31).contains($0) })
    }

    @Test func extremesDoNotOverflow() {
        var stretcher = FrameStretcher()
        let square = (0..<960).map { $0 / 2 % 2 == 0 ? Int16.max : Int16.min }
        let stretched = stretcher.stretch(square, to: 961)
        #expect(stretched.count == 961 && stretched.max() == .max && stretched.min() == .min)
        #expect(stretcher.stretch(square, to: 959).count == 959)
    }
}
