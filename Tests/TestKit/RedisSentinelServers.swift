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

    /// How the master's data get to its replicas.
    package struct Replication: Sendable {
        /// At least 1.
        package var replicas: Int
        /// Without how many replicas the master refuses writes.
        package var minReplicas: Int
        /// Whether the replicas get their master's data; otherwise they wait for them for an hour.
        package var isSynced: Bool

        package init(replicas: Int = 1, minReplicas: Int = 0, isSynced: Bool = true) {
            self.replicas = replicas
            self.minReplicas = minReplicas
            self.isSynced = isSynced
        }
    }

    /// What a client needs to connect.
    package struct Access: Sendable {
        /// The password of all servers; nil for none.
        package var password: String?
        /// The password of the Sentinels; nil for none.
        package var ownPassword: String?
        /// Whether servers and Sentinels use TLS only.
        package var tls: Bool

        package init(password: String? = nil, ownPassword: String? = nil, tls: Bool = false) {
            self.password = password
            self.ownPassword = ownPassword
            self.tls = tls
        }
    }

    /// Starts the servers and waits until every Sentinel knows all others.
    /// - Throws: ``TestFailure``.
    package init(_ replication: Replication = Replication(), access: Access = Access()) async throws {
        let isSynced = replication.isSynced
        let servers = try await Self.servers(replication, access)
        let master = servers[0]
        self.servers = servers
        var connections = try servers.map { try Self.connection($0.configuration) }
        if isSynced { try await Self.waitForData(connections) }
        var sentinels: [SentinelServer] = []
        for _ in 0..<3 {
            let sentinel = try SentinelServer(
                name: Self.name, master: master.port, quorum: 2,
                access: SentinelServer.Access(
                    password: access.password, ownPassword: access.ownPassword, tlsOf: access.tls ? master : nil))
            sentinels.append(sentinel)
            connections.append(try Self.connection(sentinel.configuration))
        }
        self.sentinels = sentinels
        self.connections = connections
        url = Self.url(of: sentinels, access, certificate: master.certificate)
        for index in 0..<3 { try await waitForReadiness(ofSentinel: index, link: isSynced ? "ok" : "err") }
    }

    /// Starts the master and its replicas, the master first.
    private static func servers(_ replication: Replication, _ access: Access) async throws -> [RedisServer] {
        var options = [
            "--repl-diskless-sync-delay", replication.isSynced ? "0" : "3600", "--min-replicas-to-write",
            "\(replication.minReplicas)", "--min-replicas-max-lag", "10",
        ]
        if let password = access.password { options += ["--masterauth", password] }
        if access.tls { options += ["--tls-replication", "yes"] }
        let master = try await RedisServer(password: access.password, tls: access.tls, options: options)
        var servers = [master]
        for _ in 0..<replication.replicas {
            servers.append(
                try await RedisServer(
                    password: access.password, tls: access.tls, certificateOf: access.tls ? master : nil,
                    options: options + ["--replicaof", "127.0.0.1", "\(master.port)"]))
        }
        return servers
    }

    private static func url(of sentinels: [SentinelServer], _ access: Access, certificate: String) -> String {
        let credentials = access.password.map { ":\($0)@" } ?? ""
        let addresses = sentinels.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        let options = [
            access.tls ? "cacert=\(certificate)" : nil, access.ownPassword.map { "sentinel-password=\($0)" },
        ].compactMap(\.self)
        let query = options.isEmpty ? "" : "?" + options.joined(separator: "&")
        return "\(access.tls ? "rediss" : "redis")+sentinel://\(credentials)\(addresses)/\(name)\(query)"
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

    /// Has the first Sentinel replace this master, and waits until all name another. A Sentinel refuses while it does
    /// not know of a replica that can take over, and gives a failover up that takes too long: then it is asked again.
    /// - Returns: the new master.
    /// - Throws: ``TestFailure``.
    package func replaceMaster(_ former: Int) async throws -> Int {
        // A Sentinel learns of its replicas' state every ten seconds.
        try await waitUntil("another master of the first Sentinel", within: .seconds(80)) {
            do {
                guard try await master(seenBySentinel: 0) == former else { return nil }
                try await failOver()
                return "begun"
            } catch {
                return "\(error)"
            }
        }
        return try await waitForAnotherMaster(than: former)
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
