internal import ClusterBus
internal import ClusterState
internal import GatewayLogic
package import Logging
internal import MessageStore
internal import NIOCore
internal import NIOPosix
internal import Pacing
internal import RedisClient
package import ServiceKit
import ServiceLifecycle
internal import SignalingProtocol
internal import Synchronization
internal import WebhookClient

/// The gateway process: shards, listeners, discovery, and a graceful stop that moves clients to other gateways
/// without ending their sessions.
package final class GatewayService: Service {
    private static let sweepPause = Duration.seconds(5)
    /// The most characters of the instance's name in the shards' ids, which are in topics and in sessions' records.
    private static let nameLength = 32
    private static let appPause = Duration.seconds(30)
    private static let comparisonPause = Duration.seconds(60)
    /// How long a ban of addresses takes to reach the gateway, as a rule.
    private static let bansPause = Duration.seconds(5)
    /// How long the last report of what apps have used may take.
    private static let lastReport = Duration.seconds(2)
    private static let drainSteps = 20
    /// How long the addresses of an app's server are used before its name is looked up again.
    private static let addressesKept = Duration.seconds(5)
    /// How long a shard may take to answer a readiness check.
    private static let readinessTimeout = Duration.seconds(1)

    let configuration: GatewayConfiguration
    let logger: Logger
    let discovery: Discovery
    let shards: [GatewayShard]
    let group: MultiThreadedEventLoopGroup
    private let cluster: ClusterInstance
    /// Makes the requests to apps' servers.
    private let hooks: WebhookTransport
    /// The shards' connections, for what concerns the process as a whole: its record and the list of gateways.
    private let redis: RedisFailover
    /// Whether clients are being disconnected, or the shards have ended; readiness checks must not use them any more.
    let isStopping = Atomic<Bool>(false)

    /// Creates a gateway that has not started.
    /// - Parameters:
    ///   - redisReplicas: how many of Redis' replicas must have a message to a user before
    ///     it is acknowledged; default 0.
    ///   - instance: this process's name in the stack; the shards' ids begin with it.
    /// - Throws: when `redisURL` is not a Redis URL, or the authorities for hooks cannot be read.
    package init(
        configuration: GatewayConfiguration, redisURL: String, redisReplicas: Int = 0, instance: String, logger: Logger
    ) throws {
        self.configuration = configuration
        var redis = try RedisConfiguration(url: redisURL)
        redis.replicas = redisReplicas
        self.logger = logger
        // Declares everything that a gateway counts.
        _ = GatewayMetrics.shared
        group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.eventLoops)
        EventLoopLag.watch(group)
        // The id is new for each run, because a restarted gateway must not be taken for the previous one. It has no
        // dots, because it becomes part of lines, whose fields are separated by dots.
        let name = instance.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(Self.nameLength)
        let run = "\(name)-\(SecureRandom.hex(bytes: 4))"
        let hooks = try WebhookTransport(
            authorityFile: configuration.hooksAuthorityFile, addressesKeptFor: Self.addressesKept)
        self.hooks = hooks
        var terms = ClusterInstance.Terms()
        (terms.servesAPI, terms.gateway) = (configuration.api != nil, run)
        let cluster = ClusterInstance(kind: "gateway", name: instance, redis: redis, terms: terms, logger: logger)
        self.cluster = cluster
        let process = GatewayProcess(
            configuration: configuration, redis: redis, addressLimiter: AddressLimiter(configuration, logger: logger),
            hooks: hooks, level: { cluster.runningLevel }, logger: logger)
        shards = group.makeIterator().enumerated().map { index, loop in
            GatewayShard(id: GatewayID(run: run, shard: index), eventLoop: loop, process: process)
        }
        let processRedis = RedisFailover(shards.map(\.redis))
        self.redis = processRedis
        discovery = Discovery(
            own: configuration.publicAddress(listeningOn: configuration.port), logger: logger,
            directory: GatewayDirectory(processRedis))
    }

    /// The levels, for `/healthz`.
    package var details: [HealthDetail] {
        [HealthDetail("level", Int(ClusterLevel.current)), HealthDetail("clusterLevel", Int(cluster.clusterLevel))]
    }

    /// The route `/getaddr`, for the public and the admin listener.
    package var routes: [HTTPRoute] {
        [HTTPRoute("/getaddr", toTarget: { [discovery] in await discovery.answer(to: $0) })]
    }

    /// Ready when every shard has both its connections to Redis, in a cluster those to more than half of the masters,
    /// and accepts clients. The answers name the shards that are not ready, and the masters that do not answer, and say
    /// what is not checked yet for that reason.
    package var readiness: [ReadinessCheck] {
        [
            .withRemarks(name: "redis") { [self] in
                isStopping.load(ordering: .acquiring) ? .fails("stopping") : await redisOutcome()
            },
            .withRemarks(name: "cluster") { [cluster] in
                cluster.hasJoined || cluster.isOnProbation ? .works(remark: cluster.remark) : .fails("not joined yet")
            },
            ReadinessCheck(name: "listener") { [self] in
                if isStopping.load(ordering: .acquiring) { return "not accepting clients" }
                return await problem("not accepting clients") { $0.acceptsClients.load(ordering: .acquiring) }
            },
        ]
    }

    private func redisOutcome() async -> ReadinessCheck.Outcome {
        let states = await answers(of: shards, within: Self.readinessTimeout) { await $0.redisReadiness }
        let problems = zip(shards, states).compactMap { shard, state -> String? in
            guard let state else { return "\(shard.id) does not answer" }
            return state.isReady ? nil : "\(shard.id) \(state.problem ?? "not connected")"
        }
        guard problems.isEmpty else { return .fails(problems.joined(separator: ", ")) }
        // As a rule all shards see the same.
        let remarks = Set(states.compactMap { $0?.problem }).sorted()
        return .works(remark: remarks.isEmpty ? nil : remarks.joined(separator: "; "))
    }

    /// Asks all shards whether something holds.
    /// - Returns: the shards where it does not, and those that do not answer; nil when there is none.
    private func problem(
        _ complaint: String, unless isWell: @escaping @Sendable (GatewayShard) async -> Bool
    ) async -> String? {
        let answers = await answers(of: shards, within: Self.readinessTimeout, isWell)
        let problems = zip(shards, answers).compactMap { shard, isWell in
            isWell == true ? nil : "\(shard.id) \(isWell == nil ? "does not answer" : complaint)"
        }
        return problems.isEmpty ? nil : problems.joined(separator: ", ")
    }

    /// Updates the metrics that the shards know.
    package func observe() async {
        guard !isStopping.load(ordering: .acquiring) else { return }
        let states = await answers(of: shards, within: Self.readinessTimeout) { shard in
            (load: await shard.load, links: await shard.redis.links())
        }
        let known = states.compactMap(\.self)
        GatewayMetrics.shared.show(known.map(\.load))
        RedisMetrics.shared.show(known.flatMap(\.links))
    }

    /// Serves until the graceful shutdown, then drains.
    /// - Throws: `ClusterRefusal` when it must not serve this cluster.
    package func run() async throws {
        guard try await beforeShutdown({ try await self.cluster.check(on: self.shards[0].eventLoop) }) else {
            return try await group.shutdownGracefully()
        }
        await eachShard(of: shards) { await $0.start() }
        await tellOfRefusedRing()
        do {
            if try await beforeShutdown({ try await self.cluster.join(on: self.redis) }) { try await serve() }
        } catch {
            // The loops go on until the process ends: the server API uses them too, and its
            // failure would hide this error.
            await end()
            throw error
        }
        await end()
        try await group.shutdownGracefully()
    }

    /// Says once for all shards that the kernel refuses the ring: it does so to each for the same reason.
    private func tellOfRefusedRing() async {
        for shard in shards {
            guard let refusal = await shard.ringRefusal else { continue }
            return logger.info("no io_uring: each send is a system call", metadata: ["error": "\(refusal)"])
        }
    }

    /// Ends the shards and their connections.
    private func end() async {
        isStopping.store(true, ordering: .releasing)
        await cluster.leave(on: redis)
        await eachShard(of: shards) { await $0.stop() }
        await hooks.close()
    }

    /// Waits for a step of the start, or for the shutdown.
    /// - Returns: whether the step was done.
    private func beforeShutdown(_ step: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        do {
            try await cancelWhenGracefulShutdown(step)
            return true
        } catch is CancellationError {
            return false
        }
    }

    /// Retries a step of a shard's start every second until it succeeds or the shutdown begins.
    /// - Returns: whether it has succeeded.
    private func untilDone(
        _ complaint: Logger.Message, _ shard: GatewayShard, _ act: () async throws -> Bool
    ) async -> Bool {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            var metadata: Logger.Metadata = ["gateway": "\(shard.id)"]
            do {
                if try await act() { return true }
            } catch {
                metadata["error"] = "\(error)"
            }
            logger.warning(complaint, metadata: metadata)
            try? await Task.sleep(for: .seconds(1))
        }
        return false
    }

    private func serve() async throws {
        let byLoop = Dictionary(uniqueKeysWithValues: shards.map { (ObjectIdentifier($0.eventLoop), $0) })
        let identity = try configuration.tls.map { try TLSIdentity(files: $0, logger: logger) }
        let listener = PublicListener(
            configuration: configuration, group: group, shards: byLoop, discovery: discovery, identity: identity,
            logger: logger)
        let listening = try await listener.bind()
        let port = listening.first?.localAddress?.port ?? configuration.port
        await discovery.setOwnAddress(configuration.publicAddress(listeningOn: port))

        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await eachShard(of: self.shards) { await self.open($0, on: listening) } }
            tasks.addTask {
                await Heartbeats.run(of: self.shards, every: GatewayID.fleet.interval) { shard in
                    if shard.acceptsClients.load(ordering: .acquiring) { _ = await self.beat(shard) }
                }
            }
            tasks.addTask { await self.every(Self.sweepPause) { await $0.sweep() } }
            tasks.addTask {
                await self.every(Self.appPause) { await $0.lookAfterApps() }
            }
            tasks.addTask { await ReloadSignal.each { identity?.reload() } }
            tasks.addTask { await self.every(Self.comparisonPause) { await $0.compare() } }
            tasks.addTask { repeat { await self.renewBans() } while await Task.pause(Self.bansPause) }
            tasks.addTask { await self.every(AppUsage.pause) { await $0.reportUsage(within: AppUsage.pause) } }
            try await remain { try await self.stopServing(listening) }
            tasks.cancelAll()
        }
        // No heartbeat is under way any more, which would take the leases again.
        await eachShard(of: shards) { shard in
            await shard.reportUsage(within: Self.lastReport)
            await self.leave(shard)
        }
    }

    /// Keeps the process's record until it is told to stop and has done so.
    /// - Throws: `ClusterRefusal` from a process on probation that must not serve.
    private func remain(untilStopped stop: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await stop() }
            tasks.addTask { try await self.cluster.stay(on: self.redis) }
            // The record is kept for as long as the process runs, so this is the stop, or a refusal.
            _ = try await tasks.next()
            tasks.cancelAll()
        }
    }

    /// Waits for the graceful shutdown, then moves the clients to other gateways.
    private func stopServing(_ listening: [any Channel]) async throws {
        do {
            try await gracefulShutdown()
        } catch {
            for channel in listening { try? await channel.close() }
            throw error
        }
        isStopping.store(true, ordering: .releasing)
        await linger()
        for channel in listening { try? await channel.close() }
        await drain()
    }

    /// Lets a shard accept clients as soon as it can serve them: it waits for Redis without a limit,
    /// because a gateway that exited would only be restarted, but neither for the other shards nor for the
    /// lesser part of a cluster's masters.
    private func open(_ shard: GatewayShard, on listening: [any Channel]) async {
        let isSubscribed = await untilDone("could not subscribe in Redis; trying again", shard) {
            try await shard.subscribeToOwnTopics()
        }
        guard isSubscribed else { return }
        // Renewed before clients are accepted: presence does not notice the loss of a gateway that never had a lease,
        // and would keep the sessions that were opened there online.
        let hasLease = await untilDone("could not take the gateway's lease; trying again", shard) {
            await self.beat(shard)
        }
        guard hasLease, !isStopping.load(ordering: .acquiring) else { return }
        shard.acceptsClients.store(true, ordering: .releasing)
        do {
            try await PublicListener.accept(on: listening)
            logger.notice(
                "accepting clients",
                metadata: ["address": "\(listening.compactMap(\.localAddress))", "gateway": "\(shard.id)"])
        } catch {
            logger.warning(
                "the listener was closed before it accepted clients",
                metadata: ["gateway": "\(shard.id)", "error": "\(error)"])
        }
        // From now on discovery names it; the master with its list may be away, for which no client waits.
        _ = await beat(shard)
    }

    /// Asks presence for the banned networks, and closes connections from there when they are others than before.
    private func renewBans() async {
        guard await shards[0].renewBans() else { return }
        await eachShard(of: shards) { await $0.closeBanned() }
    }

    /// Runs an act at every shard after each pause, until cancelled.
    private func every(_ pause: Duration, _ act: @escaping @Sendable (GatewayShard) async -> Void) async {
        while await Task.pause(pause) { await eachShard(of: shards, act) }
    }

    /// Removes the gateway from discovery, and goes on accepting clients for the time in which load balancers and
    /// clients that have been told its address may still connect.
    private func linger() async {
        await eachShard(of: shards) { _ = await self.beat($0) }
        try? await Task.sleep(for: configuration.lingerTime)
    }

    /// Disconnects the clients bit by bit over the drain time, so that they reconnect elsewhere; their sessions stay
    /// alive. Those whose calls are unanswered at its end are waited for.
    private func drain() async {
        logger.notice("draining", metadata: ["over": "\(configuration.drainTime)"])
        let pause = configuration.drainTime / Self.drainSteps
        for step in (1...Self.drainSteps).reversed() {
            await eachShard(of: shards) { await $0.drain(oneIn: step) }
            try? await Task.sleep(for: pause)
        }
        await eachShard(of: shards) { shard in
            await Self.poll(for: GatewayConfiguration.answerPatience) {
                await shard.drain(oneIn: 1)
                return await shard.connectionCount == 0
            }
            await shard.closeAll()
            // Detaches that failed are told again with heartbeats.
            await Self.poll(for: self.configuration.commandTimeout) { await shard.detaching.count == 0 }
        }
    }

    /// Asks whether something is so, fifty times a second, until it is or the time is over.
    private static func poll(for time: Duration, isSo: () async -> Bool) async {
        let deadline = LocalTime.now + LocalTime.Span(time)
        while await !isSo(), LocalTime.now < deadline { try? await Task.sleep(for: .milliseconds(20)) }
    }
}
