internal import NIOCore
package import ServiceMetrics

/// What the connections of this process to Redis count, and what it last knew of the servers.
package struct RedisMetrics: Sendable {
    /// The metrics of this process.
    package static let shared = RedisMetrics()

    let connects = Counter(
        "heliograph_redis_connects_total", "Connections to Redis that came up, for the first time or again.")
    let losses = Counter("heliograph_redis_connections_lost_total", "Connections to Redis that broke.")
    let pendingBoundHit = Counter(
        "heliograph_redis_pending_bound_hit_total",
        "Commands refused because too many, or too large ones, waited for Redis already.")
    package let requestBoundHit = Counter(
        "heliograph_requests_bound_hit_total",
        "Commands to services refused because too many waited for their replies already.")
    let unreplicated = Counter(
        "heliograph_redis_unreplicated_total",
        "Acts that failed because too few replicas of Redis confirmed them in time.")
    let replication = Histogram(
        "heliograph_redis_replication_seconds", "How long acts waited for replicas of Redis.")
    package let clockSpread = Gauge(
        "heliograph_redis_clock_spread_seconds", "By how much the clocks of Redis' masters differ.")
    private let connected = GaugeMap(
        "heliograph_redis_connected", "1 while all connections for commands to this master are up, else 0.",
        label: "master")
    private let pending = GaugeMap(
        "heliograph_redis_pending_commands", "Commands that wait for an answer of this master.", label: "master")
    private let pendingBytes = GaugeMap(
        "heliograph_redis_pending_bytes", "Size of the commands that wait for an answer of this master.",
        label: "master")

    /// Shows the states of all links of the process for commands, one per event loop and master.
    package func show(_ links: [RedisLinkState]) {
        let byMaster = Dictionary(grouping: links) { $0.master }
        connected.replace(byMaster.mapValues { $0.allSatisfy(\.isUp) ? 1 : 0 })
        pending.replace(byMaster.mapValues { Double($0.reduce(0) { $0 + $1.commands }) })
        pendingBytes.replace(byMaster.mapValues { Double($0.reduce(0) { $0 + $1.bytes }) })
    }
}

/// The memory of Redis' masters, for processes that ask for it.
package struct RedisMemoryMetrics: Sendable {
    /// The metrics of this process.
    package static let shared = RedisMemoryMetrics()

    private let used = GaugeMap(
        "heliograph_redis_memory_used_bytes", "Memory that this master uses, as its maxmemory counts it.",
        label: "master")
    private let limit = GaugeMap(
        "heliograph_redis_memory_limit_bytes", "The maxmemory of this master; 0 for none.", label: "master")

    /// Shows the memory of the masters; those that did not answer are left out.
    package func show(_ states: [RedisMemory]) {
        used.replace(Dictionary(states.map { ($0.master, $0.used) }) { $1 })
        limit.replace(Dictionary(states.map { ($0.master, $0.limit) }) { $1 })
    }
}

/// The connection of one event loop for commands to one master.
package struct RedisLinkState: Sendable, Equatable {
    /// `host:port`.
    package var master: String
    package var isUp: Bool
    /// The commands that wait to be sent or answered.
    package var commands: Int
    /// Their size, roughly.
    package var bytes: Int
}

/// The memory of one master.
package struct RedisMemory: Sendable, Equatable {
    /// `host:port`.
    package var master: String
    /// Bytes in use.
    package var used: Double
    /// Bytes that may be in use; 0 for no limit.
    package var limit: Double
}

extension RedisClient {
    /// The links for commands to all masters that are known. May be called from any thread.
    package func links() async -> [RedisLinkState] {
        await read { [self] in backend.links }
    }

    /// Asks the masters for their memory (`INFO memory`). May be called from any thread.
    package func memory() async -> [RedisMemory] {
        await info("memory").compactMap { address, fields in
            guard let fields else { return nil }
            return RedisMemory(master: address, used: fields.number("used_memory"), limit: fields.number("maxmemory"))
        }
    }
}

extension CommandPipeline {
    /// What ``RedisMetrics`` shows of it.
    func state(of address: NodeAddress) -> RedisLinkState {
        RedisLinkState(
            master: "\(address)", isUp: link.isUp,
            commands: waiting.count + written.count + (replicaWait?.count ?? 0), bytes: bytesPending)
    }
}
