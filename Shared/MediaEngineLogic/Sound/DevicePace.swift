/// Whether a device delivers or takes samples as fast as it should: 48,000 in a second.
///
/// Who calls looks at it every few milliseconds. A device that has not begun is not judged: a user who only listens has
/// none.
package struct DevicePace: Sendable {
    /// What is wrong with a device.
    package enum Trouble: Sendable, Hashable {
        /// Nothing for ``patience``; told once until the device goes on.
        case late
        /// Nothing for ``standstill``; told once until the device goes on.
        case standstill
        /// The clock was off by more than ``tolerance`` over a ``window``; told once until it was right over one.
        case offPace
    }

    /// How long a device may do nothing.
    package static let patience: MediaInterval = .milliseconds(500)
    /// How long it takes until a device that does nothing counts as failed.
    package static let standstill: MediaInterval = .seconds(10)
    /// How long a clock is measured.
    package static let window: MediaInterval = .seconds(10)
    /// By which part of itself a clock may be wrong.
    package static let tolerance = 0.05
    /// What happened between two looks that are further apart says nothing: the process itself stood still.
    static let greatestGap: MediaInterval = .milliseconds(250)

    private var latest: (at: MediaInstant, total: Int)?
    /// Where the window begins; nil until the device has begun.
    private var start: (at: MediaInstant, total: Int)?
    private var quiet = MediaInterval.zero
    /// What was told of the present silence.
    private var told: Trouble?
    private var isOffPace = false

    /// Makes one for a device that has not begun.
    package init() {}

    /// Looks at the device.
    /// - Parameter total: all samples that it has delivered or taken so far; may overflow.
    package mutating func look(total: Int, now: MediaInstant) -> Trouble? {
        let before = latest
        latest = (now, total)
        guard let before else { return nil }
        let isMoving = total != before.total
        guard let start else {
            if isMoving { self.start = (now, total) }
            return nil
        }
        let gap = now - before.at
        guard gap <= Self.greatestGap else {
            quiet = .zero
            self.start = (now, total)
            return nil
        }
        quiet = isMoving ? .zero : quiet + gap
        if isMoving { told = nil }
        guard quiet < Self.patience else {
            self.start = (now, total)
            let trouble = quiet < Self.standstill ? Trouble.late : .standstill
            defer { told = trouble }
            return trouble == told ? nil : trouble
        }
        guard now - start.at >= Self.window else { return nil }
        self.start = (now, total)
        let speed = Double(total &- start.total) / (48_000 * (now - start.at).seconds)
        let wasOffPace = isOffPace
        isOffPace = abs(speed - 1) > Self.tolerance
        return isOffPace && !wasOffPace ? .offPace : nil
    }
}
