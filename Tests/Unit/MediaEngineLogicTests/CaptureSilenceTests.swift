import Testing

@testable import MediaEngineLogic

@Suite struct CaptureSilenceTests {
    private let zeroes = [Int16](repeating: 0, count: 960)

    @Test func tenSecondsOfZeroesAreToldOnce() {
        var silence = CaptureSilence()
        var told: [Int] = []
        for number in 1...2000 where silence.hear(zeroes) { told.append(number) }
        #expect(told == [CaptureSilence.bound])
        // The least sound ends it.
        let isTold = silence.hear([1] + zeroes.dropFirst())
        #expect(!isTold)
        for number in 1...2000 where silence.hear(zeroes) { told.append(number) }
        #expect(told == [CaptureSilence.bound, CaptureSilence.bound])
    }

    @Test func whatIsMutedDoesNotCount() {
        var silence = CaptureSilence()
        var told = 0
        for _ in 1..<CaptureSilence.bound where silence.hear(zeroes) { told += 1 }
        silence.mute()
        if silence.hear(zeroes) { told += 1 }
        #expect(told == 0)
    }
}
