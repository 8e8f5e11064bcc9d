/// Counts the events that the app has not taken yet. At the bound, reading from the gateway stops until half are taken.
struct EventBacklog {
    private var waiting = 0
    private(set) var isReadingPaused = false
    private let bound: Int

    init(bound: Int) { self.bound = bound }

    /// Records that events were passed to the app.
    /// - Returns: whether to stop reading now.
    mutating func told(_ count: Int) -> Bool {
        waiting += count
        guard count > 0, waiting >= bound, !isReadingPaused else { return false }
        isReadingPaused = true
        return true
    }

    /// Records that the app has taken events.
    /// - Returns: whether to continue reading now.
    mutating func taken(_ count: Int) -> Bool {
        waiting -= count
        guard isReadingPaused, waiting <= bound / 2 else { return false }
        isReadingPaused = false
        return true
    }
}
