internal import Synchronization

/// Counts connections up to a bound.
final class ConnectionPlaces: Sendable {
    private let free: Mutex<Int>

    init(_ count: Int) { free = Mutex(count) }

    /// Whether there was a place; it is taken then.
    func take() -> Bool {
        free.withLock { count in
            guard count > 0 else { return false }
            count -= 1
            return true
        }
    }

    func leave() { free.withLock { $0 += 1 } }
}
