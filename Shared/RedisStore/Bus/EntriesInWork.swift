internal import Synchronization

/// The stream entries that a consumer is handling now, and how many more it may take.
final class EntriesInWork: Sendable {
    /// An entry of one of the consumer's streams; ids are unique in a stream only.
    struct Name: Hashable {
        /// The stream, by its place among the consumer's.
        let stream: Int
        let id: String
    }

    private struct State {
        var started: [Name: ContinuousClock.Instant] = [:]
        /// The one reading loop, while there is no room.
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// Entries at most; a read of several full streams exceeds it by a few.
    let bound: Int
    private let state = Mutex(State())

    init(bound: Int) { self.bound = bound }

    var count: Int { state.withLock { $0.started.count } }

    /// - Returns: false when it is being handled already.
    func add(_ name: Name) -> Bool {
        state.withLock { state in
            guard state.started[name] == nil else { return false }
            state.started[name] = .now
            return true
        }
    }

    func remove(_ name: Name) {
        let waiter = state.withLock { state in
            state.started[name] = nil
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
        return max(1, bound - count)
    }

    /// Those of a stream that have been in work for longer than `age`.
    func older(than age: Duration, in stream: Int) -> [String] {
        let start = ContinuousClock.now - age
        return state.withLock { state in
            state.started.filter { $0.key.stream == stream && $0.value < start }.map(\.key.id)
        }
    }
}
