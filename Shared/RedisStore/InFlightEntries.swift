internal import Synchronization

/// The stream entries that a consumer is handling now; bounded.
final class InFlightEntries: Sendable {
    private struct State {
        var started: [String: ContinuousClock.Instant] = [:]
        /// The one reading loop, while there is no room.
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// How many there may be.
    let bound: Int
    private let state = Mutex(State())

    init(bound: Int) { self.bound = bound }

    var count: Int { state.withLock { $0.started.count } }

    /// - Returns: false when it is being handled already.
    func add(_ id: String) -> Bool {
        state.withLock { state in
            guard state.started[id] == nil else { return false }
            state.started[id] = .now
            return true
        }
    }

    func remove(_ id: String) {
        let waiter = state.withLock { state in
            state.started[id] = nil
            let waiter = state.waiter
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Waits until there is room; for one caller at a time.
    /// - Returns: how much, at least one.
    func room() async -> Int {
        while count >= bound {
            await withCheckedContinuation { continuation in
                let isFull = state.withLock { state in
                    guard state.started.count >= bound else { return false }
                    state.waiter = continuation
                    return true
                }
                if !isFull { continuation.resume() }
            }
        }
        return bound - count
    }

    /// Those that have been in work for longer than `age`.
    func older(than age: Duration) -> [String] {
        let start = ContinuousClock.now - age
        return state.withLock { $0.started.filter { $0.value < start }.map(\.key) }
    }
}
