internal import Glibc
internal import Logging
internal import NIOPosix
internal import PostgresStore

/// Reads the trunk table and resolves the trunks' hosts.
actor TrunkTableReader {
    /// How often the table is read.
    static let pause = Duration.seconds(1)
    /// How long a host's addresses are used before they are resolved again.
    private static let freshness = Duration.seconds(30)
    /// How long after a failure they are resolved again.
    private static let retry = Duration.seconds(5)

    private struct Host {
        var addresses: Set<String> = []
        var due: ContinuousClock.Instant
    }

    private let store: TrunkStore
    private let logger: Logger
    private var hosts: [String: Host] = [:]

    init(store: TrunkStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// The current table; nil while PostgreSQL does not answer: the last table is then kept.
    func read() async -> TrunkTable? {
        let trunks: [SIPTrunk]
        do {
            trunks = try await store.list()
        } catch {
            logger.debug("could not read the trunks", metadata: ["error": "\(error)"])
            return nil
        }
        let wanted = Set(trunks.map(\.host))
        hosts = hosts.filter { wanted.contains($0.key) }
        for host in wanted where (hosts[host]?.due ?? .now) <= .now { await resolve(host) }
        return TrunkTable(trunks: trunks, addresses: hosts.mapValues(\.addresses))
    }

    private func resolve(_ name: String) async {
        let found = try? await NIOThreadPool.singleton.runIfActive { Self.addresses(of: name) }
        if let found, !found.isEmpty {
            hosts[name] = Host(addresses: found, due: .now + Self.freshness)
        } else {
            logger.warning("could not resolve a trunk's host", metadata: ["host": "\(name)"])
            // Calls from the last known addresses are still accepted.
            hosts[name] = Host(addresses: hosts[name]?.addresses ?? [], due: .now + Self.retry)
        }
    }

    private static func addresses(of name: String) -> Set<String> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: Set<String> = []
        var next = list
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let status = getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            if status == 0 {
                let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                // Without the zone of a link-local address.
                found.insert(String(decoding: bytes.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self))
            }
            next = entry.ai_next
        }
        return found
    }
}
