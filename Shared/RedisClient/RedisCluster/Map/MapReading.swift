internal import NIOCore

/// When to read the map of slots, or to ask the Sentinels for the master: soon after a sign that it is outdated, but
/// seldom enough for a large cluster whose clients all see that sign at once. No I/O and no clock.
struct MapReading: Sendable {
    /// The times, in milliseconds where they are ranges: a random one of the range is used.
    struct Times: Sendable, Equatable {
        /// The time from the first sign that the map is outdated to the start of the reading.
        var reaction: ClosedRange<Int64> = 0...50
        /// The time from the start of a reading to the start of the next one, as long as there are signs.
        var spacing: ClosedRange<Int64> = 250...500
        /// The same after ``patience`` readings in a row that did not help.
        var longSpacing: ClosedRange<Int64> = 1000...2000
        /// A number of readings, default 40, thus some 15 s: longer than any failover.
        var patience = 40
        /// The time from one reading to the next when there is no sign.
        var refresh: ClosedRange<Int64> = 9000...11_000
        /// The time limit of a reading; default 1 s.
        var limit: TimeAmount = .seconds(1)
    }

    private let times: Times
    /// The number of the reading that is under way, and when it began; nil when there is none.
    private(set) var current: (number: UInt64, since: NIODeadline)?
    private var lastNumber: UInt64 = 0
    /// When the last reading began.
    private var lastStart: NIODeadline?
    /// When the next reading is due; nil before ``start(_:)``.
    private var nextStart: NIODeadline?
    /// Whether a sign was seen since the current or last reading began.
    private var isWanted = false
    /// The readings in a row after which the map was still not good.
    private var fruitless = 0

    init(_ times: Times) { self.times = times }

    /// When ``isDue(_:)`` or ``isOverdue(_:)`` may change; nil before ``start(_:)``.
    var wakeAt: NIODeadline? { current.map { $0.since + times.limit } ?? nextStart }

    /// Makes the first reading due.
    mutating func start(_ now: NIODeadline) { nextStart = now }

    /// Records a sign that the map is outdated.
    mutating func want(_ now: NIODeadline, using random: inout some RandomNumberGenerator) {
        guard !isWanted else { return }
        isWanted = true
        guard current == nil else { return }
        let reaction = now + .random(times.reaction, using: &random)
        let next = max(reaction, earliest(using: &random))
        nextStart = min(nextStart ?? next, next)
    }

    /// Whether the next reading is due.
    func isDue(_ now: NIODeadline) -> Bool { current == nil && nextStart.map { $0 <= now } == true }

    /// Whether the current reading has passed its time limit.
    func isOverdue(_ now: NIODeadline) -> Bool { current.map { $0.since + times.limit <= now } == true }

    /// Begins a reading.
    /// - Returns: its number.
    mutating func begin(_ now: NIODeadline) -> UInt64 {
        lastNumber += 1
        current = (lastNumber, now)
        lastStart = now
        nextStart = nil
        isWanted = false
        return lastNumber
    }

    /// Ends the reading of this number.
    /// - Parameter isGood: whether the map has been read, covers all slots, and all masters answer.
    /// - Returns: false when it is not the current one: its result, which is older, must not be used.
    mutating func end(
        _ number: UInt64, isGood: Bool, _ now: NIODeadline, using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard current?.number == number else { return false }
        current = nil
        fruitless = isGood ? 0 : fruitless + 1
        nextStart =
            isGood && !isWanted
            ? now + .random(times.refresh, using: &random) : max(now, earliest(using: &random))
        return true
    }

    /// The earliest start of the next reading.
    private func earliest(using random: inout some RandomNumberGenerator) -> NIODeadline {
        let spacing = fruitless < times.patience ? times.spacing : times.longSpacing
        return lastStart.map { $0 + .random(spacing, using: &random) } ?? .uptimeNanoseconds(0)
    }
}

extension TimeAmount {
    /// A random time from a range of milliseconds.
    static func random(
        _ milliseconds: ClosedRange<Int64>, using random: inout some RandomNumberGenerator
    ) -> TimeAmount {
        .microseconds(Int64.random(in: milliseconds.lowerBound * 1000...milliseconds.upperBound * 1000, using: &random))
    }
}
