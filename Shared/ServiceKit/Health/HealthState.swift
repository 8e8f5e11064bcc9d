internal import Synchronization

/// Whether the process is draining; if so, `/readyz` answers 503.
final class HealthState: Sendable {
    private let draining = Mutex(false)

    var isDraining: Bool { draining.withLock { $0 } }

    func startDraining() { draining.withLock { $0 = true } }
}
