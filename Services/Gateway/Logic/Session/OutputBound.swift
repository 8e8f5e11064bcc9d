/// How much may wait for one client that reads slowly, or not at all.
///
/// While more than half of the bound waits nothing is read from the client, so that it cannot ask for more; what comes
/// unasked (messages, events, endings) goes on until the bound is hit. One answer may be larger than the bound: it waits
/// by itself, because no other is made meanwhile, and what comes unasked is bounded beside it.
package struct OutputBound: Sendable {
    /// What becomes of the connection.
    package enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Read nothing more from the client.
        case pause
        /// Read again.
        case resume
        /// Too much waits: close the connection.
        case cutOff
    }

    /// What a write takes besides its bytes while it waits.
    package static let writeOverhead = 512

    /// Bytes that may wait; rises with the login.
    package var bound: Int
    /// What waits, each write with its overhead.
    package private(set) var waiting = 0
    /// Whether nothing is to be read.
    package private(set) var isPaused = false
    /// The largest answer that waits, where it takes more than half of the bound.
    private var answer = 0

    /// Nothing waits.
    package init(bound: Int) { self.bound = bound }

    /// What a write counts for.
    package static func cost(of bytes: Int) -> Int { bytes + writeOverhead }

    /// A write waits for the client, unless it goes out at once; see ``judge()``.
    /// - Parameter isAnswer: whether the client has asked for it.
    package mutating func queued(_ bytes: Int, isAnswer: Bool) {
        waiting += Self.cost(of: bytes)
        if isAnswer, bytes > bound / 2 { answer = max(answer, bytes) }
    }

    /// What is to be done about what waits now.
    package mutating func judge() -> Action {
        if waiting > bound + answer { return .cutOff }
        guard !isPaused, waiting > bound / 2 else { return .none }
        isPaused = true
        return .pause
    }

    /// A write was taken by the client's side, or the connection has failed.
    package mutating func written(_ bytes: Int) -> Action {
        waiting -= Self.cost(of: bytes)
        if waiting == 0 { answer = 0 }
        guard isPaused, waiting <= bound / 2 else { return .none }
        isPaused = false
        return .resume
    }
}
