internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Looks up the addresses of hosts. A host is looked up once at a time, whoever waits for it: so a name that does
/// not resolve occupies one thread.
actor HostLookup {
    /// The number of look-ups at once: each occupies a thread for as long as it takes.
    private static let threads = 16
    /// The number of hosts whose addresses are kept.
    private static let bound = 1024

    private struct Place: Hashable {
        var host: String
        var port: Int
    }

    private struct Found {
        var addresses: [SocketAddress]
        var until: ContinuousClock.Instant
    }

    private let kept: Duration
    private var threads: NIOThreadPool?
    private var known: [Place: Found] = [:]
    private var running: [Place: Task<[SocketAddress], any Error>] = [:]

    /// - Parameter kept: how long addresses are used before the host is looked up again.
    init(kept: Duration) { self.kept = kept }

    /// The addresses of a host, none when its name does not resolve.
    /// - Throws: when the process is ending.
    func addresses(of host: String, _ port: Int) async throws -> [SocketAddress] {
        let place = Place(host: host, port: port)
        if let found = known[place], ContinuousClock.now < found.until { return found.addresses }
        if let running = running[place] { return try await running.value }
        let pool = startedThreads()
        let task = Task { try await pool.runIfActive { Self.lookUp(host, port) } }
        running[place] = task
        defer { running[place] = nil }
        let addresses = try await task.value
        if kept > .zero {
            if known.count >= Self.bound { known.removeAll() }
            known[place] = Found(addresses: addresses, until: .now + kept)
        }
        return addresses
    }

    /// Ends the threads, once the look-ups under way are done.
    func close() async {
        let ended = threads
        threads = nil
        try? await ended?.shutdownGracefully()
    }

    private func startedThreads() -> NIOThreadPool {
        if let threads { return threads }
        let started = NIOThreadPool(numberOfThreads: Self.threads)
        started.start()
        threads = started
        return started
    }

    private static func lookUp(_ host: String, _ port: Int) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            switch entry.ai_family {
            case AF_INET:
                entry.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    found.append(SocketAddress($0.pointee))
                }
            case AF_INET6:
                entry.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    found.append(SocketAddress($0.pointee))
                }
            default: break
            }
            next = entry.ai_next
        }
        return found
    }
}
