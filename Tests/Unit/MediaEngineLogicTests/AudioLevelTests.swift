import Foundation
import Testing

@testable import MediaEngineLogic

@Suite struct AudioLevelTests {
    @Test func levels() {
        #expect(AudioLevel.value(of: [Int16](repeating: 0, count: 960)) == 127)
        #expect(AudioLevel.value(of: [Int16]()) == 127)
        #expect(AudioLevel.value(of: [Int16](repeating: .min, count: 960)) == 0)
        // One step of the last bit: -90.3 dB.
        #expect(AudioLevel.value(of: [Int16](repeating: 1, count: 960)) == 90)
        for level in stride(from: -80.0, through: -4, by: 4) {
            #expect(AudioLevel.value(of: Tones.tone(level: level, frequency: 500)) == Int(-level))
        }
    }

    @Test func theByteOfTheExtension() {
        #expect(AudioLevel(value: 20, isVoice: true).byte == 0x94)
        #expect(AudioLevel(value: 200, isVoice: false).byte == 0x7F)
        #expect(AudioLevel(value: -1, isVoice: false).byte == 0)
    }

    @Test func theLogarithmIsTheSystemsOne() {
        for exponent in -40...40 {
            for part in stride(from: 1.0, to: 2, by: 0.037) {
                let value = part * pow(2, Double(exponent))
                #expect(abs(Decibels.log10(value) - log10(value)) < 1e-12)
            }
        }
    }

    @Test func voiceStandsOutOfTheNoise() {
        var random = SeededGenerator(seed: 5)
        var activity = VoiceActivity()
        let noise = (0..<200).map { _ in activity.judge(Tones.noise(amplitude: 200, using: &random)) }
        // At first the noise may be somebody; within 2.4 s it is known to be noise (-49 dB).
        #expect(noise.first?.isVoice == true && noise.first?.value == 49)
        #expect(noise.dropFirst(120).allSatisfy { !$0.isVoice })
        let speech = (0..<25).map { activity.judge(Tones.tone(level: -25, start: $0 * 960)) }
        #expect(speech.allSatisfy { $0.isVoice && $0.value == 25 })
        let pause = (0..<20).map { _ in activity.judge(Tones.noise(amplitude: 200, using: &random)).isVoice }
        #expect(pause == [Bool](repeating: true, count: 9) + [Bool](repeating: false, count: 11))
    }

    @Test func whatIsQuietIsNoVoice() {
        var activity = VoiceActivity()
        #expect((0..<50).allSatisfy { !activity.judge(Tones.tone(level: -55, start: $0 * 960)).isVoice })
        #expect(!activity.judge([Int16](repeating: 0, count: 960)).isVoice)
        // Also after digital silence.
        #expect(!activity.judge(Tones.tone(level: -55)).isVoice)
        #expect(activity.judge(Tones.tone(level: -30)).isVoice)
    }
}
