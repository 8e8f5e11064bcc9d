internal import RedisClient
internal import Synchronization

/// The stream entries that a consumer is handling, with a bound on their number.
final class EntriesInWork: Sendable {
    /// Identifies an entry among all streams of the consumer; an entry's id is unique only within its stream.
    struct Name: Hashable {
        /// The index of the stream.
        let stream: Int
        let id: String
    }

    private struct State {
        var started: [Name: ContinuousClock.Instant] = [:]
        /// The reading loop, when it waits for room.
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The largest number of entries; a read of several full streams may exceed it slightly.
    let bound: Int
    private let state = Mutex(State())

    init(bound: Int) { self.bound = bound }

    var count: Int { state.withLock { $0.started.count } }

    /// - Returns: false when the entry is being handled already.
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

    /// Waits until there is room; only one caller may wait.
    /// - Returns: the number of further entries, at least 1.
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

    /// The ids of a stream's entries that have been handled for longer than `age`.
    func older(than age: Duration, in stream: Int) -> [String] {
        let start = ContinuousClock.now - age
        return state.withLock { state in
            state.started.filter { $0.key.stream == stream && $0.value < start }.map(\.key.id)
        }
    }
}
