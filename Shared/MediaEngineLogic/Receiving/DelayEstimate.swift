/// How much later than the fastest packets the slow ones come, over the last 2 s.
///
/// The transit of a packet is its arrival less its timestamp, both in microseconds: as the clocks of the two ends have
/// no common zero, only differences of transits mean something. The least transit of the last 2 s stands for a packet
/// without any delay by the network's queues, and follows a slow drift of the clocks.
struct DelayEstimate {
    /// How far back packets count.
    static let window: MediaInterval = .seconds(2)
    /// The most packets that count: twice as many as normally come within the window.
    static let capacity = 200
    /// The least target: one frame, so that the packet after a lost one is usually there.
    static let least: MediaInterval = .milliseconds(20)
    /// The greatest target.
    static let greatest: MediaInterval = .milliseconds(200)

    private struct Sample {
        var arrival: MediaInstant
        var transit: MediaInterval
    }

    private var samples: [Sample] = []
    /// The transits of the samples, the least first.
    private var transits: [MediaInterval] = []
    /// The least transit in the window; nil before the first packet.
    private(set) var fastest: MediaInterval?
    /// The 95th percentile of the transits above the least one, within `least` and `greatest`.
    private(set) var target = Self.least

    /// Counts a packet that came at that time and whose frame begins at `position`, the timestamp as a time.
    mutating func put(arrival: MediaInstant, position: MediaInterval) {
        let transit = MediaInterval(microseconds: arrival.microseconds) - position
        while let oldest = samples.first, samples.count == Self.capacity || arrival - oldest.arrival > Self.window {
            samples.removeFirst()
            if let index = transits.firstIndex(of: oldest.transit) { transits.remove(at: index) }
        }
        samples.append(Sample(arrival: arrival, transit: transit))
        transits.insert(transit, at: transits.firstIndex { $0 > transit } ?? transits.endIndex)
        guard let fastest = transits.first else { return }
        self.fastest = fastest
        let slow = transits[(transits.count * 95 + 99) / 100 - 1] - fastest
        target = min(max(slow, Self.least), Self.greatest)
    }

    /// How much later than the fastest packets could be played a frame at `position` is played at `now`; nil before the
    /// first packet.
    func delay(of position: MediaInterval, now: MediaInstant) -> MediaInterval? {
        fastest.map { MediaInterval(microseconds: now.microseconds) - position - $0 }
    }
}
