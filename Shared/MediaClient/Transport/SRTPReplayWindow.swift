/// The indices of a source's latest packets, so that none is taken twice. Source: RFC 3711, sections 3.3.1 and 3.3.2.
struct SRTPReplayWindow {
    /// How far behind the latest packet another may be. At 50 packets a second this is more than two seconds.
    static let size: UInt64 = 128

    private var latest: UInt64?
    /// A bit for each of the indices up to the latest, whose bit is the lowest of `near`.
    private var near: UInt64 = 0
    private var far: UInt64 = 0

    init() {}

    /// The index that a sequence number of RTP most likely stands for: the one that is nearest to the latest. The first
    /// packet of a source begins with a roll-over counter of 0.
    ///
    /// - Throws: `tooOld` when that would be before the first index of all, or after the last.
    func index(of sequence: UInt16) throws(SRTPError) -> UInt64 {
        guard let latest else { return UInt64(sequence) }
        let step = Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: latest))
        let index = Int64(latest) + Int64(step)
        guard index >= 0, index <= SRTPSender.highestIndex else { throw .tooOld }
        return UInt64(index)
    }

    /// Whether a packet of that index may be taken, if it is authentic.
    func check(_ index: UInt64) throws(SRTPError) {
        guard let latest, index <= latest else { return }
        let age = latest - index
        guard age < Self.size else { throw .tooOld }
        let seen = age < 64 ? near >> age : far >> (age - 64)
        if seen & 1 != 0 { throw .replayed }
    }

    /// Remembers an authentic packet that `check` let through.
    mutating func record(_ index: UInt64) {
        guard let before = latest, index <= before else {
            advance(by: latest.map { index - $0 } ?? Self.size)
            latest = index
            near |= 1
            return
        }
        let age = before - index
        if age < 64 { near |= 1 << age } else { far |= 1 << (age - 64) }
    }

    /// Swift's shifts by 64 and more leave nothing, so that no distance needs a case of its own but those between.
    private mutating func advance(by distance: UInt64) {
        far = distance < 64 ? far << distance | near >> (64 - distance) : near << (distance - 64)
        near = near << distance
    }
}
