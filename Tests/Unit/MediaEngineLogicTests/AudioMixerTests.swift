import Testing

@testable import MediaEngineLogic

@Suite struct AudioMixerTests {
    private let delay = Limiter.lookAhead

    @Test func whatFitsIsNotChanged() throws {
        var random = SeededGenerator(seed: 3)
        var mixer = AudioMixer()
        var expected = [Int](repeating: 0, count: delay)
        var mixed: [Int16] = []
        for _ in 0..<20 {
            // 16 times 2047 is 32,752.
            let frames = (0..<16).map { _ in Tones.noise(amplitude: 2047, using: &random) }
            expected += (0..<960).map { index in frames.reduce(0) { $0 + Int($1[index]) } }
            mixed += try mixer.mix(frames.map { AudioMixer.Input(samples: $0) })
        }
        #expect(mixed.map(Int.init) == Array(expected.prefix(mixed.count)))
        #expect(try mixer.mix([]).dropFirst(delay).allSatisfy { $0 == 0 })
    }

    @Test func extremesAloneAreNotChanged() throws {
        var mixer = AudioMixer()
        let square = (0..<960).map { $0 % 2 == 0 ? Int16.max : Int16.min }
        let mixed = try mixer.mix([AudioMixer.Input(samples: square)])
        #expect(Array(mixed.dropFirst(delay)) == Array(square.dropLast(delay)))
    }

    @Test func loudSumsAreLoweredAndNeverWrap() throws {
        var mixer = AudioMixer()
        var mixed: [Int16] = []
        var sums: [Int] = []
        for frame in 0..<50 {
            // Two tones of nearly full scale, from the tenth frame on.
            let one = frame < 10 ? Tones.tone(level: -30) : Tones.tone(level: -4, start: frame * 960)
            let two = frame < 10 ? one : Tones.tone(level: -4, frequency: 555, start: frame * 960)
            sums += zip(one, two).map { Int($0) + Int($1) }
            mixed += try mixer.mix([AudioMixer.Input(samples: one), AudioMixer.Input(samples: two)])
        }
        let pairs = zip(sums, mixed.dropFirst(delay)).map { (sum: $0, out: Int($1)) }
        // Lowered, not wrapped: the sign stays, and nothing becomes louder.
        #expect(pairs.allSatisfy { $0.sum.signum() * $0.out.signum() >= 0 && abs($0.out) <= abs($0.sum) })
        #expect(sums.contains { abs($0) > 40_000 })
        // A clipped sum has runs at full scale; a lowered one touches it.
        let runs = zip(mixed, mixed.dropFirst()).filter { abs(Int($0)) >= 32_766 && abs(Int($1)) >= 32_766 }
        #expect(runs.count < 20)
    }

    @Test func theGainFallsBeforeAPeakAndComesBack() throws {
        var mixer = AudioMixer()
        var peak = [Int16](repeating: 10_000, count: 960)
        peak[500] = 30_000
        let steady = [Int16](repeating: 10_000, count: 960)
        let mixed = try mixer.mix([AudioMixer.Input(samples: peak), AudioMixer.Input(samples: peak)])
        #expect(mixed[delay + 440] == 20_000)
        #expect(mixed[delay + 490] < 20_000 && mixed[delay + 490] > 10_922)
        #expect((32_700...32_767).contains(mixed[delay + 500]))
        // No step: the gain falls within 48 samples from 1 to 0.546.
        let fall = zip(mixed[(delay + 440)..<(delay + 500)], mixed[(delay + 441)...(delay + 499)])
        #expect(fall.allSatisfy { Int($0) - Int($1) <= 20_000 / 100 })
        var last: [Int16] = []
        for _ in 0..<30 {
            last = try mixer.mix([AudioMixer.Input(samples: steady), AudioMixer.Input(samples: steady)])
        }
        #expect(last.allSatisfy { $0 == 20_000 })
    }

    @Test func gains() throws {
        var mixer = AudioMixer()
        let steady = [Int16](repeating: 1000, count: 960)
        let inputs = [0, 0.5, 2, -1, 9].map { AudioMixer.Input(samples: steady, gain: $0) }
        // 0, 500, 2000, 0 and, at most fourfold, 4000.
        #expect(try mixer.mix(inputs).last == 6500)
    }

    @Test func refusals() throws {
        var mixer = AudioMixer()
        let silence = AudioMixer.Input(samples: [Int16](repeating: 0, count: 960))
        #expect(throws: AudioMixerError.tooManyInputs(17, bound: 16)) {
            _ = try mixer.mix([AudioMixer.Input](repeating: silence, count: 17))
        }
        #expect(throws: AudioMixerError.wrongLength(480, expected: 960)) {
            _ = try mixer.mix([silence, AudioMixer.Input(samples: [Int16](repeating: 0, count: 480))])
        }
        let full = AudioMixer.Input(samples: [Int16](repeating: .min, count: 960))
        let sixteen = try mixer.mix([AudioMixer.Input](repeating: full, count: 16))
        #expect(sixteen.dropFirst(delay).allSatisfy { $0 < -32_000 })
    }
}
