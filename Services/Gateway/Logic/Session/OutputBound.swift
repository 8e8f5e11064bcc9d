/// Bounds the output that waits for one client that reads slowly or not at all.
///
/// While more than half of the bound waits, nothing is read from the client, so that it cannot request more.
/// Unrequested output (messages, events, close frames) continues until the bound is reached. One answer may exceed the
/// bound: nothing else is requested meanwhile, and unrequested output is bounded separately.
package struct OutputBound: Sendable {
    /// What must be done with the connection.
    package enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Stop reading from the client.
        case pause
        /// Continue reading from the client.
        case resume
        /// Close the connection, because too much waits.
        case cutOff
    }

    /// The bytes that are counted for each waiting write in addition to its own.
    package static let writeOverhead = 512

    /// The number of bytes that may wait, at most 2³¹ - 1; raised at login.
    package var bound: Int {
        get { Int(narrowBound) }
        set { narrowBound = Int32(clamping: newValue) }
    }
    /// The bytes that wait, including each write's overhead.
    package private(set) var waiting = 0
    // Narrow integers, because each connection has them.
    private var narrowBound: Int32
    /// The size of the largest waiting answer of more than half of the bound; else 0.
    private var answer: Int32 = 0
    /// Whether reading is paused.
    package private(set) var isPaused = false

    /// Creates a bound with nothing waiting.
    package init(bound: Int) { narrowBound = Int32(clamping: bound) }

    /// The bytes that are counted for a write.
    package static func cost(of bytes: Int) -> Int { bytes + writeOverhead }

    /// Records a write, before the socket has taken any of it; ``enforce()`` must follow.
    /// - Parameter isAnswer: whether the client has requested it.
    package mutating func queued(_ bytes: Int, isAnswer: Bool) {
        waiting += Self.cost(of: bytes)
        if isAnswer, bytes > bound / 2 { answer = max(answer, Int32(clamping: bytes)) }
    }

    /// Compares the waiting output with the bound.
    /// - Returns: what the connection must do.
    package mutating func enforce() -> Action {
        if waiting > bound + Int(answer) { return .cutOff }
        guard !isPaused, waiting > bound / 2 else { return .none }
        isPaused = true
        return .pause
    }

    /// Records that a write was finished, or failed with the connection.
    package mutating func written(_ bytes: Int) -> Action {
        waiting -= Self.cost(of: bytes)
        if waiting == 0 { answer = 0 }
        guard isPaused, waiting <= bound / 2 else { return .none }
        isPaused = false
        return .resume
    }
}
