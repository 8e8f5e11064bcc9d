/// Makes frames longer or shorter by some samples, by linear interpolation, without a step between frames.
package struct FrameStretcher: Sendable {
    private var last: Int16 = 0

    /// Makes a stretcher before whose first frame there was silence.
    package init() {}

    /// The frame as that many samples; a frame of the same length is returned as it is.
    ///
    /// The last sample stays the last one, so that the next frame continues from it whatever its length.
    package mutating func stretch(_ frame: [Int16], to count: Int) -> [Int16] {
        guard let end = frame.last, count > 0 else { return [] }
        defer { last = end }
        guard count != frame.count else { return frame }
        return (1...count).map { index in
            // The position among the last sample of the frame before, which is 0, and those of this frame, from 1 on.
            let (whole, part) = (index * frame.count).quotientAndRemainder(dividingBy: count)
            let before = whole == 0 ? Int(last) : Int(frame[whole - 1])
            guard part > 0 else { return Int16(before) }
            let after = Int(frame[whole])
            // Between two samples: never beyond Int16.
            return Int16(before + (after - before) * part / count)
        }
    }
}
