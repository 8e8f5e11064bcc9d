internal import Synchronization

/// The order in which the connections of a pool try the hosts of its URL.
///
/// Done here because libpq applies its connect timeout to each host only in its blocking calls. Here each host is a
/// separate attempt with its own time limit.
final class PostgresHosts: Sendable {
    private let state: Mutex<HostOrder>

    /// - Parameter count: the number of hosts, at least 1.
    init(count: Int) { state = Mutex(HostOrder(count: count)) }

    /// A new attempt to connect, which starts with the host that answered last.
    var attempts: HostAttempts { HostAttempts(state.withLock { $0.indices }) }

    /// Notes that a host can be used.
    func succeeded(_ host: Int) { state.withLock { $0.succeeded(host) } }

    /// Notes that a host cannot be used, or no longer.
    func failed(_ host: Int) { state.withLock { $0.failed(host) } }
}
