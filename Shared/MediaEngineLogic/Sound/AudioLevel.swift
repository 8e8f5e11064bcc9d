/// How loud a frame is, as the audio level extension of RTP tells it (RFC 6464 section 3).
package struct AudioLevel: Sendable, Hashable {
    /// The level below which a frame never counts as voice: -50 dBov, at which a media node gives a speaker a free
    /// slot.
    package static let quietestVoice = 50
    /// The level of digital silence.
    package static let silence = 127

    /// The root mean square of the frame in -dBov: 0 is full scale, 127 silence; rounded to whole decibels.
    package let value: Int

    /// Whether somebody seems to speak: the extension's flag V.
    package let isVoice: Bool

    /// Makes a level of its two fields; a value outside 0...127 is moved into it.
    package init(value: Int, isVoice: Bool) {
        self.value = min(max(value, 0), Self.silence)
        self.isVoice = isVoice
    }

    /// The byte of the extension: the flag V, then 7 bits of level.
    package var byte: UInt8 { UInt8(value) | (isVoice ? 0x80 : 0) }

    /// The level of samples, without judging whether they are voice.
    package static func value(of samples: [Int16]) -> Int {
        guard let level = Decibels.level(ofPower: Decibels.power(of: samples)) else { return silence }
        return min(max(Int((-level).rounded()), 0), silence)
    }
}
