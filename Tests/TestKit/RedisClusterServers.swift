internal import Logging
internal import NIOPosix
package import RedisClient

/// A real Redis Cluster of the test's own: masters, each with the same number of replicas, on free loopback ports. A
/// master that fails is replaced after two seconds and some tenths.
package actor RedisClusterServers {
    /// The masters in the order of their slots, then the first replica of each master, then the second.
    package nonisolated let servers: [RedisServer]
    /// `redis+cluster://` with the addresses of all servers.
    package nonisolated let url: String
    /// A connection to each server.
    private let connections: [RedisConnection]
    /// The port of each server for the others.
    private let busPorts: [Int]
    /// The id of each server in the cluster.
    private let ids: [String]

    /// Starts the servers and waits until they are one cluster.
    /// - Parameters:
    ///   - masters: at least 1.
    ///   - replicas: of each master.
    ///   - slots: the slots that the masters share; default all.
    ///   - password: of all servers; default none.
    ///   - tls: whether the servers use TLS only. Only for a single master without replicas, because each server has a
    ///     certificate that no other server knows.
    /// - Throws: ``TestFailure``.
    package init(
        masters: Int = 3, replicas: Int = 1, slots: Range<Int> = 0..<16_384, password: String? = nil, tls: Bool = false
    ) async throws {
        var servers: [RedisServer] = []
        var connections: [RedisConnection] = []
        var ids: [String] = []
        var busPorts: [Int] = []
        for _ in 0..<masters * (1 + replicas) {
            let busPort = try RedisServer.freePort()
            let server = try await RedisServer(
                password: password, tls: tls, options: Self.options(busPort: busPort, password: password, tls: tls))
            let connection = RedisConnection(
                configuration: try server.configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            connection.start()
            servers.append(server)
            busPorts.append(busPort)
            connections.append(connection)
            ids.append(try await connection.execute(RedisCommand("CLUSTER", "MYID")).string ?? "")
        }
        self.servers = servers
        self.connections = connections
        self.ids = ids
        self.busPorts = busPorts
        let credentials = password.map { ":\($0)@" } ?? ""
        let addresses = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let query = servers[0].url.split(separator: "?").dropFirst().map { "?\($0)" }.joined()
        url = "\(tls ? "rediss" : "redis")+cluster://\(credentials)\(addresses)\(query)"
        try await join(masters: masters, slots: slots)
    }

    private static func options(busPort: Int, password: String?, tls: Bool) -> [String] {
        var options = [
            "--cluster-enabled", "yes", "--cluster-port", "\(busPort)", "--cluster-node-timeout", "2000",
            "--cluster-require-full-coverage", "no", "--cluster-allow-pubsubshard-when-down", "yes",
            "--repl-diskless-sync-delay", "0",
        ]
        if let password { options += ["--masterauth", password] }
        if tls { options += ["--tls-cluster", "yes"] }
        return options
    }

    private func join(masters: Int, slots: Range<Int>) async throws {
        for index in 0..<masters {
            let first = slots.lowerBound + slots.count * index / masters
            let last = slots.lowerBound + slots.count * (index + 1) / masters - 1
            try await execute(RedisCommand("CLUSTER", "SET-CONFIG-EPOCH", .int(index + 1)), on: index)
            try await execute(RedisCommand("CLUSTER", "ADDSLOTSRANGE", .int(first), .int(last)), on: index)
        }
        for (server, busPort) in zip(servers, busPorts).dropFirst() {
            let meet = RedisCommand("CLUSTER", "MEET", "127.0.0.1", .int(server.port), .int(busPort))
            try await execute(meet, on: 0)
        }
        try await waitForAll("servers that know each other", "cluster_known_nodes:\(servers.count)")
        for index in masters..<servers.count {
            try await execute(RedisCommand("CLUSTER", "REPLICATE", .string(ids[index % masters])), on: index)
        }
        try await waitUntil("replicas with their masters' data", within: .seconds(30)) {
            for index in masters..<servers.count {
                let text = try await execute(RedisCommand("INFO", "replication"), on: index).string ?? ""
                if !text.contains("master_link_status:up") { return "replica \(index): \(text)" }
            }
            return nil
        }
        try await waitForReplication(masters: masters)
        try await waitForAll("slots known everywhere", "cluster_slots_assigned:\(slots.count)")
        try await waitForAll("a usable cluster", "cluster_state:ok")
    }

    /// Waits until each master's writes reach its replicas. A replica calls its link up as soon as it has
    /// loaded its master's data; the master sends it later writes only after it has noticed the end of that
    /// transfer by itself and has then heard from the replica, which may be a second later. A master that is
    /// killed before takes these writes with it.
    private func waitForReplication(masters: Int) async throws {
        let replicas = servers.count / masters - 1
        guard replicas > 0 else { return }
        try await waitUntil("replicas that get their masters' writes", within: .seconds(30)) {
            for index in 0..<masters {
                // A write that needs no key.
                try await execute(RedisCommand("FUNCTION", "FLUSH"), on: index)
                let reached = try await execute(RedisCommand("WAIT", .int(replicas), 1000), on: index).int
                if reached != Int64(replicas) { return "a write of master \(index) reached \(reached ?? 0) replicas" }
            }
            return nil
        }
    }

    private func waitForAll(_ what: String, _ line: String) async throws {
        try await waitUntil(what, within: .seconds(30)) {
            for index in servers.indices {
                let text = try await execute(RedisCommand("CLUSTER", "INFO"), on: index).string ?? ""
                if !text.contains(line) { return "server \(index) says \(text)" }
            }
            return nil
        }
    }

    /// Sends a command to one server.
    /// - Throws: ``RedisError``.
    @discardableResult
    package func execute(_ command: RedisCommand, on server: Int) async throws -> RedisValue {
        try await connections[server].execute(command)
    }

    /// The server that owns a slot, as another server sees it.
    /// - Throws: ``RedisError``, ``TestFailure``.
    package func owner(ofSlot slot: Int, seenBy server: Int) async throws -> Int {
        for range in try await execute(RedisCommand("CLUSTER", "SLOTS"), on: server).array ?? [] {
            guard let parts = range.array, parts.count > 2, let first = parts[0].int, let last = parts[1].int,
                (first...last).contains(Int64(slot)), let id = parts[2].array?[2].string
            else { continue }
            if let index = ids.firstIndex(of: id) { return index }
        }
        throw TestFailure("nobody owns slot \(slot)")
    }

    /// Begins to move a slot: from here on the source answers ASK for keys that it does not have.
    /// - Throws: ``RedisError``.
    package func beginMigration(ofSlot slot: Int, from source: Int, to target: Int) async throws {
        try await execute(
            RedisCommand("CLUSTER", "SETSLOT", .int(slot), "IMPORTING", .string(ids[source])), on: target)
        try await execute(
            RedisCommand("CLUSTER", "SETSLOT", .int(slot), "MIGRATING", .string(ids[target])), on: source)
    }

    /// Moves all keys of a slot that is being moved.
    /// - Throws: ``RedisError``.
    package func moveKeys(ofSlot slot: Int, from source: Int, to target: Int) async throws {
        while true {
            let some = RedisCommand("CLUSTER", "GETKEYSINSLOT", .int(slot), 100)
            let keys = try await execute(some, on: source).array ?? []
            guard !keys.isEmpty else { return }
            for key in keys.compactMap(\.string) {
                try await execute(
                    RedisCommand("MIGRATE", "127.0.0.1", .int(servers[target].port), .string(key), 0, 5000), on: source)
            }
        }
    }

    /// Ends the move of a slot, whose keys must have been moved.
    /// - Throws: ``RedisError``.
    package func endMigration(ofSlot slot: Int, from source: Int, to target: Int) async throws {
        for server in [target, source] {
            try await execute(
                RedisCommand("CLUSTER", "SETSLOT", .int(slot), "NODE", .string(ids[target])), on: server)
        }
    }

    /// Stops all servers and deletes their files.
    /// - Throws: ``TestFailure``.
    package func remove() async throws {
        for connection in connections { await connection.close() }
        for server in servers {
            // A server that is asked to end waits for its replicas, and one that is frozen does not hear.
            try await server.kill()
            try await server.remove()
        }
    }
}
