/// Decides when a channel's members are told of joins and leaves.
///
/// When thousands come at once, telling each of each at once would take the whole event loop. So after each write to the
/// members, joins and leaves alone wait a while, and then go together. A message never waits, and takes them along.
package struct MovePacing: Sendable {
    /// Joins and leaves that wait at most.
    package static let bound = 1024
    /// How many times as long as the write took the rest after it is: telling moves takes a fifth of the loop at most.
    static let rest: Int64 = 4
    /// The longest rest, ns.
    static let longestRest: Int64 = 250_000_000

    private var quietUntil: Int64 = 0

    /// A channel that was not written to yet.
    package init() {}

    /// Whether what was gathered waits. Times are nanoseconds of a clock that never goes back.
    /// - Parameters:
    ///   - count: events gathered.
    ///   - onlyMoves: whether they only tell who came and went.
    /// - Returns: until when; nil: write now.
    package func postponement(of count: Int, onlyMoves: @autoclosure () -> Bool, now: Int64) -> Int64? {
        guard now < quietUntil, count < Self.bound, onlyMoves() else { return nil }
        return quietUntil
    }

    /// The members were written to.
    package mutating func wrote(from start: Int64, to end: Int64) {
        quietUntil = end + min((end - start) * Self.rest, Self.longestRest)
    }
}
