/// Adds the frames of the slots that are heard at once, and keeps the sum within 16 bits.
///
/// The mix is 1 ms later than its inputs (`Limiter`).
package struct AudioMixer: Sendable {
    /// The most inputs of a mix: the most slots of a receiver.
    package static let capacity = 16
    /// The greatest gain of an input: 12 dB.
    package static let greatestGain = 4.0

    /// One slot's share of a mix.
    package struct Input: Sendable {
        /// 20 ms at 48 kHz, mono.
        package var samples: [Int16]
        /// The factor of the samples, 1 unless somebody is to be louder or quieter; 0...4, else the nearer end.
        package var gain: Double

        /// Makes an input of a frame.
        package init(samples: [Int16], gain: Double = 1) {
            self.samples = samples
            self.gain = gain
        }
    }

    private var limiter = Limiter()

    /// Makes a mixer that has heard silence.
    package init() {}

    /// A gain within the bounds; what is no number is 0.
    package static func bounded(_ gain: Double) -> Double { gain > 0 ? min(gain, greatestGain) : 0 }

    /// The sum of the inputs, of 960 samples; silence when there are none, after the last millisecond of the frame
    /// before.
    ///
    /// - Throws: `AudioMixerError` for too many inputs, or one of another length; nothing is mixed then.
    package mutating func mix(_ inputs: [Input]) throws(AudioMixerError) -> [Int16] {
        guard inputs.count <= Self.capacity else { throw .tooManyInputs(inputs.count, bound: Self.capacity) }
        let length = Int(AudioPacket.samples)
        var sums = [Int32](repeating: 0, count: length)
        for input in inputs {
            guard input.samples.count == length else {
                throw .wrongLength(input.samples.count, expected: length)
            }
            add(input, to: &sums)
        }
        return limiter.limit(sums)
    }

    private func add(_ input: Input, to sums: inout [Int32]) {
        let gain = Self.bounded(input.gain)
        // Most are not changed, and then a processor adds many samples at once.
        if gain == 1 {
            for index in sums.indices { sums[index] &+= Int32(input.samples[index]) }
        } else {
            for index in sums.indices { sums[index] += Int32((Double(input.samples[index]) * gain).rounded()) }
        }
    }
}

/// Why inputs cannot be mixed.
package enum AudioMixerError: Error, Sendable, Hashable {
    /// More inputs than the bound.
    case tooManyInputs(Int, bound: Int)
    /// An input of that many samples.
    case wrongLength(Int, expected: Int)
}
