/// Whether the sender's clock is faster or slower than that of the playback device, and what to do about it.
///
/// Two clocks differ by up to some 100 parts in a million: in ten minutes 60 ms more arrive than are played, or less.
/// The delay of the jitter buffer grows by that, but it also moves by the network and by frames that the buffer added
/// or left out. Therefore the delay without those frames is averaged over 10 s and compared with that of the first 10
/// s; beyond 5 ms, frames are stretched or shortened by one sample (1 in 1000 is not heard) until the difference is
/// gone.
package struct ClockDrift: Sendable {
    /// The delays that are averaged: those of 10 s.
    package static let framesOfAverage = 500
    /// The difference at which correcting begins: 5 ms in samples.
    package static let tolerance = 240.0
    /// A difference that no drift reaches while it is corrected: 20 ms in samples. The network's own delay has changed,
    /// so that there is nothing left to compare with.
    package static let greatestDifference = 960.0

    /// The samples that a decoded frame of 960 is to be played as.
    package enum Length: Int, Sendable, Hashable {
        /// More is played than arrives: a sample is added.
        case stretched = 961
        /// As it is.
        case unchanged = 960
        /// More arrives than is played: a sample is taken away.
        case shortened = 959

        /// The samples of the frame.
        package var samples: Int { rawValue }
    }

    private enum Stage {
        /// Adding up the first 10 s, after which there is something to compare with.
        case measuring(sum: Double, frames: Int)
        /// Comparing with the delay of the first 10 s, both in samples.
        case comparing(reference: Double, average: Double)
    }

    private var stage = Stage.measuring(sum: 0, frames: 0)
    /// The samples that were taken away, less those that were added. They are left out of the average, which otherwise
    /// would learn of a correction 10 s after it was enough.
    private var removed = 0
    /// How the next frame is to be played.
    package private(set) var length = Length.unchanged

    /// Makes a comparison that has seen nothing.
    package init() {}

    /// By how many samples the delay is, by its average, more than in the first 10 s; nil during those.
    package var difference: Double? {
        switch stage {
        case .measuring: nil
        case .comparing(let reference, let average): average - reference - Double(removed)
        }
    }

    /// Counts a frame that is played, and says how long it is to be.
    ///
    /// - Parameters:
    ///   - delay: the frame's delay, in samples at 48 kHz, before the frame is stretched.
    ///   - addedFrames: the frames that the jitter buffer added since its stream began, less those it left out.
    package mutating func play(delay: Double, addedFrames: Int) -> Length {
        let own = delay - Double(addedFrames) * Double(AudioPacket.samples) + Double(removed)
        switch stage {
        case .measuring(let sum, let frames) where frames + 1 < Self.framesOfAverage:
            stage = .measuring(sum: sum + own, frames: frames + 1)
        case .measuring(let sum, let frames):
            let reference = (sum + own) / Double(frames + 1)
            stage = .comparing(reference: reference, average: reference)
        case .comparing(let reference, let average):
            let next = average + (own - average) / Double(Self.framesOfAverage)
            stage = .comparing(reference: reference, average: next)
            let difference = next - reference - Double(removed)
            guard abs(difference) <= Self.greatestDifference else {
                reset()
                break
            }
            length = length(difference: difference)
            removed += Length.unchanged.samples - length.samples
        }
        return length
    }

    /// Begins anew: when another stream begins in the slot.
    package mutating func reset() { self = ClockDrift() }

    private func length(difference: Double) -> Length {
        if difference > Self.tolerance { return .shortened }
        if difference < -Self.tolerance { return .stretched }
        // What was begun goes on until the difference is gone, so that the length does not change with every frame.
        switch length {
        case .unchanged: return .unchanged
        case .shortened: return difference > 0 ? .shortened : .unchanged
        case .stretched: return difference < 0 ? .stretched : .unchanged
        }
    }
}
