/// How long an engine waits before it tries again: 0.5 s for 5 s, then twice as long each time up to 2 s, each a fifth
/// shorter or longer by chance, so that the participants of a failed node do not come all at once.
struct RetryPause: Sendable {
    /// The pause at first.
    static let first: MediaInterval = .milliseconds(500)
    /// How long after the first attempt the pause stays the same.
    static let steady: MediaInterval = .seconds(5)
    /// The longest pause, before chance.
    static let longest: MediaInterval = .seconds(2)
    /// By which part of itself a pause may be shorter or longer.
    static let jitter = 0.2

    private let since: MediaInstant
    private var pause = Self.first

    init(since: MediaInstant) { self.since = since }

    /// The pause after a failure at that time; `chance` is random in 0..<1.
    mutating func next(now: MediaInstant, chance: Double) -> MediaInterval {
        if now - since >= Self.steady { pause = min(pause * 2, Self.longest) }
        return pause * (1 + Self.jitter * (2 * min(max(chance, 0), 1) - 1))
    }
}
