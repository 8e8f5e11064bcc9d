/// Judges whether somebody speaks, by the level alone: 9 dB above the noise, and for 200 ms after that.
///
/// The noise is the least level lately: it falls at once with a quieter frame, and rises by 1 dB in a second, so that a
/// steady hum becomes noise.
package struct VoiceActivity: Sendable {
    /// How far above the noise voice is, in decibels.
    package static let margin = 9.0
    /// The frames of 20 ms that still count as voice after the last loud one: pauses between words are part of the
    /// speech.
    package static let hangover = 10
    /// By how much the noise rises with each frame, in decibels.
    static let rise = 0.02

    /// The least noise, in dBov: after digital silence a quiet room is to be known as noise within seconds.
    static let quietest = -60.0

    private var noise = Self.quietest
    private var remaining = 0

    /// Makes a judge that has heard nothing.
    package init() {}

    /// The level of the next 20 ms, and whether they are voice.
    package mutating func judge(_ frame: [Int16]) -> AudioLevel {
        let value = AudioLevel.value(of: frame)
        let level = -Double(value)
        let isLoud = value <= AudioLevel.quietestVoice && level >= noise + Self.margin
        noise = max(min(level, noise + Self.rise), Self.quietest)
        remaining = isLoud ? Self.hangover : max(0, remaining - 1)
        return AudioLevel(value: value, isVoice: remaining > 0)
    }
}
