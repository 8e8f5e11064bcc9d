package import RedisClient

/// What a server of Redis says of itself when an operator asks.
package struct ServerState: Sendable, Equatable {
    package let address: NodeAddress
    /// The release of Redis, such as `7.0.15`; empty when it does not tell.
    package var version: String
    package var role: ServerRole
    /// Memory in use, in bytes.
    package var memory: Int64
    /// `maxmemory` in bytes; nil without a limit.
    package var memoryLimit: Int64?
    /// What the server does at its limit; ours must be `noeviction`.
    package var evictionPolicy: String
    /// The memory of its machine, in bytes; nil when it does not tell.
    package var systemMemory: Int64?
    /// Whether it keeps an append-only file; nil when it does not tell.
    package var keepsFile: Bool?
    /// What failed when its files were last written, such as `aof_last_write_status`.
    package var failedWrites: [String]
    /// The number of keys in the database that is used.
    package var keys: Int64
    /// The commands per second while it was watched.
    package var commandsPerSecond = 0.0
    /// How much of a core its main thread used while it was watched.
    package var cpu = 0.0
    /// The number of replicas that are connected to it.
    package var connectedReplicas: Int
    /// How far it has come in its master's history of writes, or in its own, in bytes.
    package var offset: Int64
    /// Whether a replica is connected to its master; true for a master.
    package var isLinked: Bool
    /// The seconds since a replica last heard of its master; nil for a master.
    package var silence: Int64?
    /// Between which bounds the server's clock is ahead of a clock of this machine, in milliseconds.
    package var clockLead: ClosedRange<Int64>?
    /// The cluster's function libraries that it has; nil when it does not tell.
    package var libraries: [String]?
    /// Some of the server's settings; nil when it does not tell (CONFIG is often forbidden).
    package var settings: [String: String]?
    /// The cluster as this server sees it; nil when it is no part of one.
    package var view: ClusterView?

    /// The settings that are asked for.
    static let settingNames = ["appendfsync", "cluster-require-full-coverage", "cluster-allow-pubsubshard-when-down"]
    /// The fields of INFO that are `ok` unless a file could not be written.
    private static let writeStates = ["aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status"]
    /// The sections of INFO that ``init(_:info:database:)`` reads.
    static let info = RedisCommand(
        "INFO", "server", "memory", "persistence", "stats", "replication", "cpu", "cluster", "keyspace")

    /// - Throws: code `SHAPE`.
    init(_ address: NodeAddress, info: InfoFields, database: Int) throws(RedisError) {
        self.address = address
        version = info["redis_version"] ?? ""
        switch info["role"] {
        case "master": role = .master
        case "slave":
            let port = info.integer("master_port").map { Int($0) } ?? 0
            role = .replica(of: NodeAddress(host: info["master_host"] ?? "", port: port))
        default: throw .shape("the reply of \(address) to INFO")
        }
        memory = info.integer("used_memory") ?? 0
        memoryLimit = info.integer("maxmemory").flatMap { $0 > 0 ? $0 : nil }
        evictionPolicy = info["maxmemory_policy"] ?? ""
        systemMemory = info.integer("total_system_memory")
        keepsFile = info.integer("aof_enabled").map { $0 == 1 }
        failedWrites = Self.writeStates.filter { info[$0] ?? "ok" != "ok" }
        keys = info.part("keys", of: "db\(database)") ?? 0
        connectedReplicas = Int(info.integer("connected_slaves") ?? 0)
        isLinked = role == .master || info["master_link_status"] == "up"
        offset = info.integer(role == .master ? "master_repl_offset" : "slave_repl_offset") ?? 0
        silence = role == .master ? nil : info.integer("master_last_io_seconds_ago")
    }

    /// Takes what happened between two replies to INFO.
    mutating func watched(from first: InfoFields, to last: InfoFields, for time: Duration) {
        let seconds = max(time / .seconds(1), 0.001)
        let commands = "total_commands_processed"
        commandsPerSecond = max(0, last.number(commands) - first.number(commands)) / seconds
        let used = ["used_cpu_sys_main_thread", "used_cpu_user_main_thread"]
            .reduce(0) { $0 + last.number($1) - first.number($1) }
        cpu = max(0, used) / seconds
    }

    package var isMaster: Bool { role == .master }

    /// The address of a replica's master; nil for a master.
    package var master: NodeAddress? {
        if case .replica(let master) = role { master } else { nil }
    }
}
