internal import Synchronization

/// Whether the process still takes work.
final class HealthState: Sendable {
    private let draining = Mutex(false)

    var isDraining: Bool { draining.withLock { $0 } }

    func startDraining() { draining.withLock { $0 = true } }
}
