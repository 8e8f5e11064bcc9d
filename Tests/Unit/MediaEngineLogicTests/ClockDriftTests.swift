import Testing

@testable import MediaEngineLogic

@Suite struct ClockDriftTests {
    /// What comes of playing for some minutes.
    private struct Outcome {
        var least = 0.0
        var greatest = 0.0
        var stretched = 0
        var shortened = 0
        /// How often the length of the frames changed.
        var changes = 0
    }

    /// Plays for that many minutes what comes from a clock that is faster by `partsPerMillion`; delays vary by `noise`
    /// samples.
    private func run(partsPerMillion: Double, minutes: Int, noise: Double = 0, seed: UInt64 = 1) -> Outcome {
        var random = SeededGenerator(seed: seed)
        var drift = ClockDrift()
        var outcome = Outcome()
        var waiting = 1500.0
        var length = ClockDrift.Length.unchanged
        // The device plays 960 samples in each step; a frame of 959 is used up sooner than one of 961.
        for _ in 0..<minutes * 3000 {
            waiting += 960 * (1 + partsPerMillion / 1_000_000) - 960 * 960 / Double(length.samples)
            let noise = noise > 0 ? Double.random(in: -noise...noise, using: &random) : 0
            let next = drift.play(delay: waiting + noise, addedFrames: 0)
            outcome.changes += next == length ? 0 : 1
            length = next
            switch length {
            case .stretched: outcome.stretched += 1
            case .unchanged: break
            case .shortened: outcome.shortened += 1
            }
            outcome.least = min(outcome.least, waiting - 1500)
            outcome.greatest = max(outcome.greatest, waiting - 1500)
        }
        return outcome
    }

    @Test(arguments: [-200.0, -100, -20, 20, 100, 200]) func theDelayStaysBoundedForTenMinutes(partsPerMillion: Double)
    {
        for noise in [0.0, 960, 2880] {
            let outcome = run(partsPerMillion: partsPerMillion, minutes: 10, noise: noise)
            // 15 ms; unmended it would be 5760 samples at 200 parts in a million.
            #expect(outcome.least > -720 && outcome.greatest < 720)
            // Each sample that drifts is mended once, and only in one direction.
            #expect(partsPerMillion > 0 ? outcome.stretched == 0 : outcome.shortened == 0)
            #expect(outcome.changes < 60)
        }
    }

    @Test func equalClocksChangeNothing() {
        for seed in UInt64(1)...5 {
            let outcome = run(partsPerMillion: 0, minutes: 5, noise: 1920, seed: seed)
            #expect(outcome.stretched == 0 && outcome.shortened == 0)
        }
    }

    @Test func framesOfTheJitterBufferAreNoDrift() {
        var drift = ClockDrift()
        for _ in 0..<600 { #expect(drift.play(delay: 1200, addedFrames: 0) == .unchanged) }
        for _ in 0..<3000 { #expect(drift.play(delay: 1200 + 3 * 960, addedFrames: 3) == .unchanged) }
        // Half a frame more, which nothing explains.
        let longer = (0..<1000).map { _ in drift.play(delay: 1200 + 3.5 * 960, addedFrames: 3) }
        #expect(longer.first == .unchanged && longer.last == .shortened)
        drift.reset()
        #expect(drift.difference == nil && drift.length == .unchanged)
    }

    @Test func aChangeOfTheNetworkIsNoDrift() {
        var drift = ClockDrift()
        for _ in 0..<600 { #expect(drift.play(delay: 1200, addedFrames: 0) == .unchanged) }
        // 60 ms longer from now on: for some seconds that looks like drift.
        let lengths = (0..<3000).map { _ in drift.play(delay: 1200 + 3 * 960, addedFrames: 0) }
        #expect(lengths.filter { $0 != .unchanged }.count < 300)
        #expect(lengths.last == .unchanged && drift.difference == 0)
    }

    /// Plays for five minutes what a sender with a faster or slower clock sends; whether frames are stretched is the
    /// caller's choice.
    private func played(partsPerMillion: Double, isCorrected: Bool) -> (
        counts: JitterBuffer.Counts, delays: ClosedRange<Int>
    ) {
        var buffer = JitterBuffer()
        var drift = ClockDrift()
        var samples: Int64 = 0
        var next = 0
        var delays: [Int] = []
        while samples < 5 * 60 * 48_000 {
            let now = MediaInstant(microseconds: samples * 125 / 6)
            while true {
                let arrival = MediaInstant(
                    microseconds: Int64(Double(next) * 20_000 / (1 + partsPerMillion / 1_000_000)) + 35_000)
                guard arrival <= now else { break }
                let packet = AudioPacket(
                    sequence: UInt16(truncatingIfNeeded: next), timestamp: UInt32(next * 960), speaker: 7,
                    payload: [UInt8](repeating: 1, count: 80))
                buffer.put(packet, arrival: arrival)
                next += 1
            }
            _ = buffer.play(now: now)
            guard let delay = buffer.delay(at: now) else {
                samples += 960
                continue
            }
            delays.append(Int(delay.milliseconds))
            let added = buffer.counts.lengthened - buffer.counts.shortened - buffer.counts.hurried
            let length = drift.play(delay: delay.milliseconds * 48, addedFrames: added)
            samples += Int64(isCorrected ? length.samples : 960)
        }
        return (buffer.counts, (delays.min() ?? 0)...(delays.max() ?? 0))
    }

    @Test(arguments: [-200.0, 200]) func theJitterBufferKeepsItsDelay(partsPerMillion: Double) {
        let corrected = played(partsPerMillion: partsPerMillion, isCorrected: true)
        #expect(corrected.counts.concealed == 0 && corrected.counts.late == 0 && corrected.counts.streams == 1)
        #expect(corrected.delays.upperBound - corrected.delays.lowerBound <= 12)
        // What that mends: 60 ms in five minutes.
        let uncorrected = played(partsPerMillion: partsPerMillion, isCorrected: false)
        #expect(partsPerMillion < 0 ? uncorrected.counts.concealed > 0 : uncorrected.delays.upperBound > 50)
    }
}
