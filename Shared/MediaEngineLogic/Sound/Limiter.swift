/// Keeps a sum of sounds within 16 bits by lowering it before its peaks, and returning slowly after them.
///
/// The output is 1 ms later than the input: within that time the gain falls in a straight line to what the coming peak
/// needs. It rises again after the last peak, by 63 % in 50 ms. A sum that fits is not changed at all.
struct Limiter: Sendable {
    /// The samples by which the output is later: 1 ms at 48 kHz.
    static let lookAhead = 48
    /// How fast the gain rises again: each sample adds this part of what is missing to full gain, so 63 % in 50 ms.
    static let release = 1.0 / 2400

    /// The sums that wait, a ring.
    private var waiting = [Int32](repeating: 0, count: Self.lookAhead)
    private var next = 0
    private var gain = 1.0
    /// The gain that the peaks among those that wait need.
    private var aim = 1.0
    /// By how much the gain falls with each sample until it reaches `aim`.
    private var step = 0.0
    /// The samples until the last peak has gone out.
    private var hold = 0

    /// Takes the next sums. Returns as many samples: the sums from 1 ms before, limited.
    mutating func limit(_ sums: [Int32]) -> [Int16] {
        guard isIdle, sums.count >= Self.lookAhead, Self.fits(sums) else { return sums.map { limit($0) } }
        // Nearly always: nothing is to be lowered, so that the sums only wait.
        let earlier = waiting[next...] + waiting[..<next]
        waiting = Array(sums.suffix(Self.lookAhead))
        next = 0
        return earlier.map { Int16(truncatingIfNeeded: $0) }
            + sums.dropLast(Self.lookAhead).map { Int16(truncatingIfNeeded: $0) }
    }

    /// Whether no peak is waiting, and none was lately.
    private var isIdle: Bool { gain == 1 && aim == 1 && hold == 0 }

    private static func fits(_ sums: [Int32]) -> Bool {
        var least: Int32 = 0
        var greatest: Int32 = 0
        for sum in sums {
            least = min(least, sum)
            greatest = max(greatest, sum)
        }
        return least >= Int32(Int16.min) && greatest <= Int32(Int16.max)
    }

    private mutating func limit(_ sum: Int32) -> Int16 {
        let out = waiting[next]
        waiting[next] = sum
        next = (next + 1) % Self.lookAhead
        // The gain for what goes out now; the new sum's own turn is `lookAhead` calls later.
        advance()
        expect(sum)
        if gain == 1, let whole = Int16(exactly: out) { return whole }
        return Int16(clamping: Int32(Double(out) * gain))
    }

    private mutating func advance() {
        if gain > aim {
            gain = max(aim, gain + step)
        } else if hold == 0 {
            step = 0
            gain += (1 - gain) * Self.release
            if gain > 0.9999 { gain = 1 }
            aim = gain
        }
        hold = max(0, hold - 1)
    }

    private mutating func expect(_ sum: Int32) {
        guard Int16(exactly: sum) == nil else { return }
        let needed = (sum > 0 ? Double(Int16.max) : Double(Int16.min)) / Double(sum)
        hold = Self.lookAhead
        aim = min(aim, needed)
        step = min(step, (needed - gain) / Double(Self.lookAhead))
    }
}
