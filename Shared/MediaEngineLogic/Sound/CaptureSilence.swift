/// Whether a capture device delivers nothing but digital zeroes, as one that is switched off or not permitted does:
/// even a quiet room has noise.
package struct CaptureSilence: Sendable {
    /// The frames of zeroes after which it is told: 10 s.
    package static let bound = 500

    private var frames = 0

    /// Makes one that has heard nothing.
    package init() {}

    /// Takes a frame that is sent.
    /// - Returns: whether the app is to be told; once until something else was delivered.
    package mutating func hear(_ frame: [Int16]) -> Bool {
        guard frame.allSatisfy({ $0 == 0 }) else {
            frames = 0
            return false
        }
        // The count stops one above the bound, so that the app is told once only.
        frames = min(frames + 1, Self.bound + 1)
        return frames == Self.bound
    }

    /// What is captured is not sent: the time begins anew.
    package mutating func mute() { frames = 0 }
}
