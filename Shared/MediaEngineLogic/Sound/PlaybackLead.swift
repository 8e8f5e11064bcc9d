/// How many samples have to be ready for a playback device: what it asks for at once, and a reserve for the times at
/// which the mixing loop comes late.
///
/// The reserve grows by half a frame whenever something was not ready, and shrinks by as much after 10 s without that.
package struct PlaybackLead: Sendable {
    /// By how much the reserve grows and shrinks, which is also the least: 10 ms.
    package static let step = 480
    /// The greatest reserve: 80 ms.
    package static let greatestReserve = 8 * step
    /// The most samples of one request that are provided for: 85 ms.
    package static let greatestRequest = 4096
    /// How long nothing is missed until the reserve shrinks.
    static let calm: MediaInterval = .seconds(10)

    private var reserve = Self.step
    private var missed = 0
    private var calmSince: MediaInstant?

    /// Makes one for a device that has asked for nothing yet.
    package init() {}

    /// The samples that are to be ready at that time.
    ///
    /// - Parameters:
    ///   - largest: the most samples that the device has asked for at once.
    ///   - missed: all samples that it asked for and did not get, since it was started.
    package mutating func target(largest: Int, missed: Int, now: MediaInstant) -> Int {
        let since = calmSince ?? now
        if missed > self.missed {
            reserve = min(reserve + Self.step, Self.greatestReserve)
            calmSince = now
        } else if now - since >= Self.calm {
            reserve = max(reserve - Self.step, Self.step)
            calmSince = now
        } else {
            calmSince = since
        }
        self.missed = missed
        return min(max(largest, Int(AudioPacket.samples)), Self.greatestRequest) + reserve
    }
}
