internal import Logging
internal import NIOPosix
package import RedisClient

/// A real Redis with Sentinel of the test's own: a master, its replicas, and three Sentinels, on free loopback ports. A
/// master that fails is replaced after three seconds and some tenths.
package actor RedisSentinelServers {
    /// The name of the master.
    package static let name = "main"

    /// The master, then its replicas.
    package nonisolated let servers: [RedisServer]
    /// Three.
    package nonisolated let sentinels: [SentinelServer]
    /// `redis+sentinel://` with the addresses of all Sentinels.
    package nonisolated let url: String
    /// A connection to each server, then to each Sentinel.
    private let connections: [RedisConnection]

    /// Starts the servers and waits until every Sentinel knows all others.
    /// - Parameters:
    ///   - replicas: at least 1.
    ///   - minReplicas: without how many replicas a master refuses writes; default 0.
    ///   - isSynced: whether the replicas get their master's data; otherwise they wait for
    ///     them for an hour. Default true.
    ///   - password: of all servers; default none.
    ///   - ownPassword: of the Sentinels; default none.
    ///   - tls: whether servers and Sentinels use TLS only; default false.
    /// - Throws: ``TestFailure``.
    package init(
        replicas: Int = 1, minReplicas: Int = 0, isSynced: Bool = true, password: String? = nil,
        ownPassword: String? = nil, tls: Bool = false
    ) async throws {
        var options = [
            "--repl-diskless-sync-delay", isSynced ? "0" : "3600", "--min-replicas-to-write", "\(minReplicas)",
            "--min-replicas-max-lag", "10",
        ]
        if let password { options += ["--masterauth", password] }
        if tls { options += ["--tls-replication", "yes"] }
        let master = try await RedisServer(password: password, tls: tls, options: options)
        var servers = [master]
        for _ in 0..<replicas {
            servers.append(
                try await RedisServer(
                    password: password, tls: tls, certificateOf: tls ? master : nil,
                    options: options + ["--replicaof", "127.0.0.1", "\(master.port)"]))
        }
        self.servers = servers
        var connections = try servers.map { try Self.connection($0.configuration) }
        if isSynced { try await Self.waitForData(connections) }
        var sentinels: [SentinelServer] = []
        for _ in 0..<3 {
            let sentinel = try SentinelServer(
                name: Self.name, master: master.port, quorum: 2, password: password, ownPassword: ownPassword,
                tlsOf: tls ? master : nil)
            sentinels.append(sentinel)
            connections.append(try Self.connection(sentinel.configuration))
        }
        self.sentinels = sentinels
        self.connections = connections
        let credentials = password.map { ":\($0)@" } ?? ""
        let addresses = sentinels.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let urlOptions = [
            tls ? "cacert=\(master.certificate)" : nil, ownPassword.map { "sentinel-password=\($0)" },
        ].compactMap(\.self)
        let query = urlOptions.isEmpty ? "" : "?" + urlOptions.joined(separator: "&")
        url = "\(tls ? "rediss" : "redis")+sentinel://\(credentials)\(addresses)/\(Self.name)\(query)"
        for index in 0..<3 { try await waitForReadiness(ofSentinel: index, link: isSynced ? "ok" : "err") }
    }

    private static func connection(_ configuration: RedisConfiguration) throws -> RedisConnection {
        // A Sentinel does not know TIME.
        let connection = RedisConnection(
            configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), keepsClock: false,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        connection.start()
        return connection
    }

    /// Waits until the replicas of the first server have all that it had written when this was called.
    /// - Throws: ``TestFailure``, ``RedisError``.
    package func waitForReplicas() async throws {
        try await Self.waitForData(Array(connections.prefix(servers.count)))
    }

    private static func waitForData(_ servers: [RedisConnection]) async throws {
        let written = try await replication(servers[0])["master_repl_offset"].flatMap { Int($0) } ?? 0
        for (index, replica) in servers.enumerated().dropFirst() {
            try await waitUntil("a replica with its master's data", within: .seconds(30)) {
                let state = try await replication(replica)
                let offset = state["slave_repl_offset"].flatMap { Int($0) } ?? -1
                return state["master_link_status"] == "up" && offset >= written ? nil : "replica \(index): \(state)"
            }
        }
    }

    /// The fields of INFO's section about replication.
    private static func replication(_ connection: RedisConnection) async throws -> [String: String] {
        let text = try await connection.execute(RedisCommand("INFO", "replication")).string ?? ""
        var fields: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[String(parts[0])] = String(parts[1]) }
        }
        return fields
    }

    private func waitForReadiness(ofSentinel index: Int, link: String) async throws {
        try await waitUntil("a Sentinel that knows all others", within: .seconds(30)) {
            if let failure = await sentinels[index].failure { throw TestFailure(failure) }
            let master = try await ask(sentinel: index, "MASTER")
            let found = Self.fields(master)
            guard found["flags"] == "master", found["num-other-sentinels"] == "2",
                found["num-slaves"] == "\(servers.count - 1)"
            else { return "\(found)" }
            let replicas = try await ask(sentinel: index, "REPLICAS").array?.map { Self.fields($0) } ?? []
            return replicas.allSatisfy { $0["master-link-status"] == link } ? nil : "\(replicas)"
        }
    }

    private static func fields(_ reply: RedisValue) -> [String: String] {
        let texts = (reply.array ?? []).map { $0.string ?? "" }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: texts.count - 1, by: 2) { fields[texts[index]] = texts[index + 1] }
        return fields
    }

    /// Sends a command to one server.
    /// - Throws: ``RedisError``.
    @discardableResult
    package func execute(_ command: RedisCommand, on server: Int) async throws -> RedisValue {
        try await connections[server].execute(command)
    }

    /// Sends `SENTINEL WORD` and the master's name to a Sentinel.
    /// - Throws: ``RedisError``.
    @discardableResult
    package func ask(sentinel: Int, _ word: String) async throws -> RedisValue {
        try await connections[servers.count + sentinel].execute(
            RedisCommand("SENTINEL", .string(word), .string(Self.name)))
    }

    /// Has a Sentinel replace the master, which is healthy.
    /// - Throws: ``RedisError``.
    package func failOver(bySentinel sentinel: Int = 0) async throws { try await ask(sentinel: sentinel, "FAILOVER") }

    /// The master, as a Sentinel says.
    /// - Throws: ``RedisError``, ``TestFailure``.
    package func master(seenBySentinel sentinel: Int) async throws -> Int {
        let reply = try await ask(sentinel: sentinel, "GET-MASTER-ADDR-BY-NAME").array ?? []
        guard reply.count == 2, let port = reply[1].int,
            let index = servers.firstIndex(where: { $0.port == Int(port) })
        else { throw TestFailure("no master: \(reply)") }
        return index
    }

    /// Waits until all Sentinels that run name another master than this one.
    /// - Returns: the new master.
    /// - Throws: ``TestFailure``.
    package func waitForAnotherMaster(than former: Int, sentinels: [Int] = [0, 1, 2]) async throws -> Int {
        var masters: Set<Int> = []
        try await waitUntil("another master", within: .seconds(40)) {
            masters = []
            for sentinel in sentinels { masters.insert(try await master(seenBySentinel: sentinel)) }
            return masters.count == 1 && !masters.contains(former) ? nil : "\(masters)"
        }
        return masters.first ?? former
    }

    /// Stops all and deletes their files.
    /// - Throws: ``TestFailure``.
    package func remove() async throws {
        for connection in connections { await connection.close() }
        for sentinel in sentinels { try await sentinel.remove() }
        for server in servers {
            // A server that is asked to end waits for its replicas, and one that is frozen does not hear.
            try await server.kill()
            try await server.remove()
        }
    }
}
