package import Pacing

/// Decides when a channel's members are notified of joins and leaves.
///
/// When thousands of users join at once, notifying every member of each join immediately would take all of the event
/// loop's time. So after each write to the members, joins and leaves are gathered for a while and sent together. A
/// message is never delayed, and the gathered joins and leaves are sent with it.
package struct JoinLeaveCoalescing: Sendable {
    /// The most joins and leaves that are gathered.
    package static let bound = 1024
    /// The pause after a write, as a multiple of the write's duration: 4 leaves such writes at most a fifth of the
    /// loop's time.
    static let rest: Int64 = 4
    /// The longest pause.
    static let longestRest = LocalTime.Span(.milliseconds(250))

    private var quietUntil = LocalTime.distantPast

    /// The coalescing for a channel that was not written to yet.
    package init() {}

    /// Whether the gathered events have to wait.
    /// - Parameters:
    ///   - count: the number of gathered events.
    ///   - onlyJoinsAndLeaves: whether all of them are joins and leaves.
    /// - Returns: the time to wait for; nil: write now.
    package func postponement(
        of count: Int, onlyJoinsAndLeaves: @autoclosure () -> Bool, now: LocalTime
    ) -> LocalTime? {
        guard now < quietUntil, count < Self.bound, onlyJoinsAndLeaves() else { return nil }
        return quietUntil
    }

    /// The members were written to, between these times.
    package mutating func wrote(from start: LocalTime, to end: LocalTime) {
        quietUntil = end + min((end - start) * Self.rest, Self.longestRest)
    }
}
