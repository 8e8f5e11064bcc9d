internal import Synchronization

/// The order in which a pool's connections try several hosts: first the one that answered last; after a failure, the next
/// one.
///
/// Done here because libpq applies its connect timeout to each host only in its blocking calls. Here each host is a separate
/// attempt with its own time limit.
final class PostgresHosts: Sendable {
    private let count: Int
    private let preferred = Mutex(0)

    init(count: Int) { self.count = max(1, count) }

    /// The indices of all hosts, in the order in which to try them.
    var order: [Int] {
        let first = preferred.withLock { $0 }
        return (0..<count).map { (first + $0) % count }
    }

    func succeeded(_ host: Int) { preferred.withLock { $0 = host } }

    /// Makes later attempts start with the next host, unless another host has become preferred meanwhile.
    func failed(_ host: Int) {
        preferred.withLock { preferred in if preferred == host { preferred = (host + 1) % count } }
    }
}
