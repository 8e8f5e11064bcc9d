import Logging
import NIOCore
import NIOPosix
import RedisClient
import Synchronization
import TestKit

/// A Redis with Sentinel of the test's own, with a client of it.
struct RedisSentinelScene: Sendable {
    let servers: RedisSentinelServers
    let client: RedisClient
    /// The warnings and errors that the client has logged.
    let log: Recording<String>
    /// When the client heard of each failover that began.
    let failovers: Recording<ContinuousClock.Instant>

    /// Runs a test with fresh servers, which are removed afterwards.
    /// - Parameter configure: changes the client's configuration.
    static func run(
        _ replication: RedisSentinelServers.Replication = RedisSentinelServers.Replication(),
        access: RedisSentinelServers.Access = RedisSentinelServers.Access(),
        configure: (inout RedisConfiguration) -> Void = { _ in }, _ body: (RedisSentinelScene) async throws -> Void
    ) async throws {
        let servers = try await RedisSentinelServers(replication, access: access)
        let (log, failovers) = (Recording<String>(), Recording<ContinuousClock.Instant>())
        let client = try client(servers.url, log: log, failovers: failovers, configure: configure)
        do {
            try await body(RedisSentinelScene(servers: servers, client: client, log: log, failovers: failovers))
        } catch {
            await client.close()
            try await servers.remove()
            throw error
        }
        await client.close()
        try await servers.remove()
    }

    /// A client that has not been started.
    static func client(
        _ url: String, log: Recording<String> = Recording(),
        failovers: Recording<ContinuousClock.Instant> = Recording(),
        configure: (inout RedisConfiguration) -> Void = { _ in }
    ) throws -> RedisClient {
        try RedisClient(
            url: url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [RedisClusterScene.library],
            logger: Logger(label: "test") { _ in LogKeeper(warnings: log, failovers: failovers) },
            configure: {
                $0.commandTimeout = .seconds(5)
                configure(&$0)
            })
    }

    /// Waits until the client uses a master.
    func waitForConnection() async throws {
        try await waitUntil("a connection to the master") { client.isConnected ? nil : "none; log: \(log.all)" }
    }

    /// The numbers in a tag's list, on one server.
    func list(_ tag: String, on server: Int) async throws -> [Int] {
        let reply = try await servers.execute(RedisCommand("LRANGE", .string(tag + ":list"), 0, -1), on: server)
        return reply.array?.compactMap { $0.int.map { Int($0) } } ?? []
    }
}

/// Keeps the messages of warnings and errors, and the times at which a Sentinel said that a failover begins.
private struct LogKeeper: LogHandler {
    let warnings: Recording<String>
    let failovers: Recording<ContinuousClock.Instant>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    init(warnings: Recording<String>, failovers: Recording<ContinuousClock.Instant>) {
        self.warnings = warnings
        self.failovers = failovers
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if event.level >= .warning { warnings.add("\(event.message)") }
        if event.metadata?["event"] == "began" { failovers.add(.now) }
    }
}

/// Publishes a number every ten milliseconds, and keeps when each arrived at a subscriber of the same client.
final class EventFlow: Sendable {
    private let client: RedisClient
    private let subscriber: ClusterSubscriber
    private let arrivals = Recording<ContinuousClock.Instant>()
    private let renewals = Recording<SlotScope>()
    private let task = Mutex<RepeatedTask?>(nil)

    init(_ client: RedisClient) {
        self.client = client
        let (arrivals, renewals) = (arrivals, renewals)
        subscriber = ClusterSubscriber(
            client, logger: RedisScene.logger,
            callbacks: .init(onMessage: { _, _ in arrivals.add(.now) }, onReconnected: { renewals.add($0) }))
    }

    func start() async throws {
        subscriber.start()
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            client.eventLoop.execute { self.subscriber.subscribe("t") { continuation.resume(with: $0) } }
        }
        let task = client.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { [client] _ in
            client.send(RedisCommand("PUBLISH", "t", "x")) { _ in }
        }
        self.task.withLock { $0 = task }
    }

    /// How many have arrived.
    var count: Int { arrivals.all.count }

    /// How often the subscriber has said that it may have missed messages.
    var missed: Int { renewals.all.count }

    /// Stops.
    /// - Returns: the longest time between two arrivals.
    func finish() async -> Duration {
        task.withLock { $0?.cancel() }
        await subscriber.close()
        let times = arrivals.all
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero
    }
}
