internal import Synchronization

/// Which of several hosts a pool's connections try first: the one that answered last, and after a failure the next.
///
/// libpq tries the hosts of a URL by turns only where each attempt may block; here each is an attempt of its own, with a time
/// of its own.
final class PostgresHosts: Sendable {
    private let count: Int
    private let preferred = Mutex(0)

    init(count: Int) { self.count = max(1, count) }

    /// Each host's number once, in the order of trying.
    var order: [Int] {
        let first = preferred.withLock { $0 }
        return (0..<count).map { (first + $0) % count }
    }

    func succeeded(_ host: Int) { preferred.withLock { $0 = host } }

    /// Whoever comes next begins with the next host, unless another was found to answer meanwhile.
    func failed(_ host: Int) {
        preferred.withLock { preferred in if preferred == host { preferred = (host + 1) % count } }
    }
}
