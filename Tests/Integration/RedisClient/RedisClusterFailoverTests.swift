import BusProtocol
import ClusterBus
import ClusterState
import NIOCore
import NIOPosix
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// A master of a real Redis Cluster fails under load.
@Suite(.serialized) struct RedisClusterFailoverTests {
    enum Failure: CaseIterable {
        /// kill -9: the connections break.
        case killed
        /// SIGSTOP: the connections stay open, and nothing is answered.
        case frozen
    }

    @Test(arguments: Failure.allCases)
    func aMasterFails(_ failure: Failure) async throws {
        try await RedisClusterScene.run(replicas: 1) { scene in
            try await scene.cluster.verify()
            let tags = (0..<3).map { RedisClusterScene.tag(ofMaster: $0) }
            // Of the failing master: numbers that may be repeated, and others; and those of a master that goes on.
            let repeated = NumberSender(scene.cluster, tag: tags[0], isFunction: true, repetition: .seconds(20))
            let plain = NumberSender(scene.cluster, tag: tags[0] + "plain", isFunction: false)
            let other = NumberSender(scene.cluster, tag: tags[1], isFunction: true)
            let service = try await WaitingService(scene.servers)
            for sender in [repeated, plain, other] { sender.start() }
            try await waitUntil("load") { other.acknowledged > 200 ? nil : "\(other.acknowledged)" }
            let server = scene.servers.servers[0]
            switch failure {
            case .killed: try await server.kill()
            case .frozen: await server.freeze(true)
            }
            let end = ContinuousClock.now
            let slot = Int(RedisClusterScene.slot(of: tags[0]))
            try await waitUntil("a failover", within: .seconds(30)) {
                try await scene.servers.owner(ofSlot: slot, seenBy: 1) == 3 ? nil : "not yet"
            }
            let before = plain.acknowledged
            try await waitUntil("load at the new master") { plain.acknowledged > before + 200 ? nil : "none" }
            try await service.post()
            try await service.handled.wait(for: 2, "commands", within: .seconds(5) * patience)
            try await service.stop()
            let sent = try await repeated.finish()
            #expect(sent.filter { $0.error != nil }.isEmpty)
            Self.expectOnlyLastMomentLost(sent, before: end, list: try await scene.list(tags[0]))
            Self.expectOnlyUnknownOutcomesFail(
                try await plain.finish(), before: end, list: try await scene.list(tags[0] + "plain"))

            let others = try await other.finish()
            #expect(others.filter { $0.error != nil }.isEmpty)
            #expect(try await scene.list(tags[1]) == Array(0..<others.count))
            let slowest = others.map(\.time).max() ?? .zero
            // A failover takes longer than that: the servers wait for two seconds before they call a master failed.
            #expect(slowest < .seconds(2) * patience, "users of other masters do not wait for it: \(slowest)")
        }
    }

    /// No replica is waited for, so a master takes along what it has acknowledged last and not passed on yet: of
    /// numbers that are sent each two milliseconds, the last few. What was sent later is all there.
    private static func expectOnlyLastMomentLost(
        _ sent: [NumberSender.Outcome], before end: ContinuousClock.Instant, list: [Int]
    ) {
        #expect(list == Set(list).sorted(), "each once, in order")
        let arrived = Set(list)
        let lost = sent.filter { $0.error == nil && !arrived.contains($0.number) }
        #expect(lost.count < 10 && lost.allSatisfy { $0.sentAt < end }, "lost: \(lost.map(\.number))")
    }

    /// - Parameter list: the numbers that have arrived.
    private static func expectOnlyUnknownOutcomesFail(
        _ sent: [NumberSender.Outcome], before end: ContinuousClock.Instant, list: [Int]
    ) {
        expectOnlyLastMomentLost(sent, before: end, list: list)
        let errors = Set(sent.compactMap { $0.error?.code })
        #expect(errors.isSubset(of: [.closed, .timeout]), "only those whose outcome is unknown fail")
    }
}

/// A service that reads commands in partition 0, which the first master owns. Its reads have a minute, so that one
/// which waits for a server that has been replaced, instead of its successor, is noticed.
private struct WaitingService {
    let handled = Recording<Int>()
    private let client: RedisClient
    private let running: Task<Void, any Error>

    /// Returns when it has handled a command.
    init(_ servers: RedisClusterServers) async throws {
        client = try RedisClient(
            url: servers.url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [.streams],
            logger: RedisScene.logger, configure: { $0.commandTimeout = .seconds(60) })
        client.start()
        var router = CommandRouter()
        router.on(CountMembers.self) { [handled] (_, _) throws(SignalingError) in
            handled.add(1)
            return MemberCount(count: 1)
        }
        let consumer = CommandConsumer(
            service: .channelState, instance: "one", connection: client, router: router, logger: RedisScene.logger)
        running = Task { try await consumer.run() }
        try await post()
        try await handled.wait(for: 1, "commands")
    }

    func post() async throws {
        let app = try AppID("app")
        let commands = try (0..<200).map {
            CountMembers(channel: ChannelKey(app: app, name: try ChannelName("room \($0)")))
        }
        let ofFirst = commands.first { client.bus.partition(of: $0.subject).number == 0 }
        let id = CommandID("post \(handled.all.count)")
        _ = try await client.execute(PostedCommand.command(on: client.bus, for: try #require(ofFirst), id: id))
    }

    func stop() async throws {
        running.cancel()
        try await running.value
        await client.close()
    }
}
