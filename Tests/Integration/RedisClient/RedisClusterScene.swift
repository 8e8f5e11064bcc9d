import ClusterState
import Logging
import NIOCore
import NIOPosix
import RedisClient
import Synchronization
import TestKit

/// A Redis Cluster of the test's own, with a client of it.
struct RedisClusterScene: Sendable {
    let servers: RedisClusterServers
    let cluster: RedisClient

    /// `push`: appends a number to the list of a tag, once. `busy`: keeps its server busy for some milliseconds, and
    /// returns the server's time in microseconds afterwards.
    static let library = RedisFunctionLibrary(
        name: "test",
        parts: [
            Array(
                """
                redis.register_function('push', function(keys, args)
                    if redis.call('SADD', keys[1] .. ':seen', args[1]) == 1 then
                        redis.call('RPUSH', keys[1] .. ':list', args[1])
                    end
                    return 'OK'
                end)
                redis.register_function('busy', function(keys, args)
                    local time
                    local first
                    repeat
                        time = redis.call('TIME')
                        time = time[1] * 1000000 + time[2]
                        first = first or time
                    until time - first >= args[1] * 1000
                    return time
                end)
                """.utf8)
        ])

    /// Runs a test with a fresh cluster of 3 masters, which is removed afterwards.
    /// - Parameters:
    ///   - replicas: of each master.
    ///   - configure: changes the client's configuration.
    static func run(
        replicas: Int = 0, slots: Range<Int> = 0..<16_384, password: String? = nil,
        configure: (inout RedisConfiguration) -> Void = { _ in }, _ body: (RedisClusterScene) async throws -> Void
    ) async throws {
        let servers = try await RedisClusterServers(replicas: replicas, slots: slots, password: password)
        try await run(servers, configure: configure, body)
    }

    /// Runs a test with a cluster, which is removed afterwards.
    static func run(
        _ servers: RedisClusterServers, configure: (inout RedisConfiguration) -> Void = { _ in },
        _ body: (RedisClusterScene) async throws -> Void
    ) async throws {
        let cluster = try client(servers.url, configure: configure)
        cluster.start()
        let scene = RedisClusterScene(servers: servers, cluster: cluster)
        do {
            try await body(scene)
        } catch {
            await cluster.close()
            try await servers.remove()
            throw error
        }
        await cluster.close()
        try await servers.remove()
    }

    /// A client whose commands wait for a second, not for five.
    static func impatient(_ configuration: inout RedisConfiguration) { configuration.commandTimeout = .seconds(1) }

    /// A client that has durable commands confirmed by a replica.
    static func durable(_ configuration: inout RedisConfiguration) { configuration.replicas = 1 }

    /// A client that has not been started.
    static func client(
        _ url: String, configure: (inout RedisConfiguration) -> Void = { _ in }
    ) throws -> RedisClient {
        try RedisClient(
            url: url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [library],
            logger: RedisScene.logger,
            configure: {
                $0.commandTimeout = .seconds(5)
                configure(&$0)
            })
    }

    /// A tag in braces whose slot is owned by a master, counted from 0, of 3 that share all slots.
    static func tag(ofMaster master: Int) -> String { "{\(Buckets.shared.tag(master * 1366 + 10))}" }

    static func slot(of tag: String) -> UInt16 { KeySlot.of(tag) }

    /// The numbers in a tag's list.
    func list(_ tag: String) async throws -> [Int] {
        let command = RedisCommand("LRANGE", .string(tag + ":list"), 0, -1).inSlot(Self.slot(of: tag))
        return try await cluster.execute(command).array?.compactMap { $0.int.map { Int($0) } } ?? []
    }
}

/// Sends numbers to the list of a tag, one every two milliseconds, and keeps what became of each.
final class NumberSender: Sendable {
    struct Outcome: Sendable {
        let number: Int
        let error: RedisError?
        /// When the client was asked to send it.
        let sentAt: ContinuousClock.Instant
        /// From sending to completion.
        let time: Duration
    }

    let tag: String
    private let cluster: RedisClient
    private let isFunction: Bool
    private let isDurable: Bool
    /// How long a number may be sent again; nil for never.
    private let repetition: TimeAmount?
    private let outcomes = Mutex<[Outcome]>([])
    private let count = Atomic<Int>(0)
    private let task = Mutex<RepeatedTask?>(nil)

    /// - Parameters:
    ///   - isFunction: whether it calls `push`, which is fenced and may be repeated, instead of RPUSH.
    ///   - isDurable: whether a number is acknowledged only when replicas have it; default false.
    init(
        _ cluster: RedisClient, tag: String, isFunction: Bool, isDurable: Bool = false, repetition: TimeAmount? = nil
    ) {
        self.cluster = cluster
        self.tag = tag
        self.isFunction = isFunction
        self.isDurable = isDurable
        self.repetition = repetition
    }

    func start() {
        let task = cluster.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(2)) { [self] _ in
            send()
        }
        self.task.withLock { $0 = task }
    }

    /// Stops sending and waits until all numbers are complete.
    /// - Returns: what became of each, in the order of completion.
    func finish() async throws -> [Outcome] {
        task.withLock { $0?.cancel() }
        try await waitUntil("the answers to \(tag)", within: .seconds(30)) {
            let (sent, done) = (count.load(ordering: .acquiring), outcomes.withLock { $0.count })
            return sent == done ? nil : "\(done) of \(sent)"
        }
        return outcomes.withLock { $0 }
    }

    /// How many numbers have been acknowledged so far.
    var acknowledged: Int { outcomes.withLock { $0.count { $0.error == nil } } }

    private func send() {
        let number = count.add(1, ordering: .acquiringAndReleasing).oldValue
        var command =
            isFunction
            ? RedisCommand.function("push", tag: tag, .int(number))
            : RedisCommand("RPUSH", .string(tag + ":list"), .int(number)).inSlot(RedisClusterScene.slot(of: tag))
        command.isDurable = isDurable
        let sentAt = ContinuousClock.now
        cluster.send(command, repeatedUntil: repetition.map { .now() + $0 }) { result in
            let error: RedisError? = if case .failure(let error) = result { error } else { nil }
            let outcome = Outcome(number: number, error: error, sentAt: sentAt, time: .now - sentAt)
            self.outcomes.withLock { $0.append(outcome) }
        }
    }
}
