import Logging
import NIOCore
import NIOPosix
import RedisClient
import TestKit

/// A Redis of the test's own with a replica behind a proxy, and a client that waits for replicas.
struct RedisReplicaScene: Sendable {
    let master: RedisServer
    let replica: RedisServer
    /// The client's way to the master.
    let entrance: LaggingProxy
    let client: RedisClient
    /// Connections straight to the master and to the replica.
    let observers: [RedisConnection]

    static let tag = "{a}"
    static let list = RedisCommand("LRANGE", .string("\(tag):list"), 0, -1)

    /// Runs a test with fresh servers, which are removed afterwards.
    /// - Parameters:
    ///   - lag: how far the replica is behind.
    ///   - replicas: how many replicas the client waits for, of which there is one; default 1.
    ///   - limit: how long it waits.
    static func run(
        lag: Duration = .zero, replicas: Int = 1, limit: Duration = .milliseconds(500),
        _ body: (RedisReplicaScene) async throws -> Void
    ) async throws {
        let master = try await RedisServer(appendOnly: false, options: ["--repl-diskless-sync-delay", "0"])
        let proxy = try await LaggingProxy(to: master.port, delay: lag)
        let entrance = try await LaggingProxy(to: master.port)
        let replica = try await RedisServer(appendOnly: false, options: ["--replicaof", "127.0.0.1", "\(proxy.port)"])
        var configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(entrance.port)")
        configuration.replicas = replicas
        configuration.replicaTimeout = limit
        configuration.commandTimeout = .seconds(2)
        let client = RedisClient(
            configuration: configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: [RedisClusterScene.library], logger: RedisScene.logger)
        client.start()
        let observers = [try observer(of: master), try observer(of: replica)]
        let scene = RedisReplicaScene(
            master: master, replica: replica, entrance: entrance, client: client, observers: observers)
        let result: Result<Void, any Error>
        do {
            try await scene.waitForReplica()
            result = .success(try await body(scene))
        } catch {
            result = .failure(error)
        }
        await client.close()
        for observer in observers { await observer.close() }
        // A master that is asked to end waits for its replica, and a frozen one does not hear.
        for server in [replica, master] {
            try await server.kill()
            try await server.remove()
        }
        try await proxy.close()
        try await entrance.close()
        try result.get()
    }

    private static func observer(of server: RedisServer) throws -> RedisConnection {
        let connection = RedisConnection(
            configuration: try server.configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: RedisScene.logger)
        connection.start()
        return connection
    }

    private func waitForReplica() async throws {
        // A replica that has its master's data acknowledges for the first time up to a second later.
        try await waitUntil("a replica that acknowledges") {
            let results = await observers[0].execute([RedisCommand("SET", "ready", 1), RedisCommand("WAIT", 1, 1000)])
            return try results[1].get().int == 1 ? nil : "none"
        }
        _ = try await observers[0].execute(RedisCommand("CONFIG", "RESETSTAT"))
    }

    /// Sends a number to the list, once even when repeated, and waits for the replica.
    /// - Returns: why that failed; nil when it did not.
    func push(_ number: Int) async -> RedisError? {
        do throws(RedisError) {
            _ = try await client.execute(Self.pushing(number))
            return nil
        } catch {
            return error
        }
    }

    static func pushing(_ number: Int) -> RedisCommand { .function("push", tag: tag, .int(number)).durable }

    /// The numbers in the list, in the master or in the replica.
    func numbers(in place: Int = 0) async throws -> [Int] {
        try await observers[place].execute(Self.list).array?.compactMap { $0.int.map { Int($0) } } ?? []
    }

    /// The lines of the master's CLIENT LIST with a text.
    func clients(with text: String) async throws -> [Substring] {
        let list = try await observers[0].execute(RedisCommand("CLIENT", "LIST")).string ?? ""
        return list.split(separator: "\n").filter { $0.contains(text) }
    }

    /// Has the master close the connection of such a line.
    func disconnect(_ line: Substring) async throws {
        let id = line.split(separator: " ")[0].dropFirst("id=".count)
        _ = try await observers[0].execute(RedisCommand("CLIENT", "KILL", "ID", .string(String(id))))
    }
}
