import BusProtocol
import ClusterBus
import ClusterState
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// What the users of a client learn when one master of a real Redis Cluster fails: only its slots are concerned.
@Suite(.serialized, .timeLimit(.minutes(3))) struct RedisClusterMasterTests {
    /// A slot of each master.
    private static let slots = (0..<3).map { RedisClusterScene.slot(of: RedisClusterScene.tag(ofMaster: $0)) }

    /// Reads something on the client's loop.
    private static func read<Value: Sendable>(
        _ scene: RedisClusterScene, _ value: @escaping @Sendable (RedisClient) -> Value
    ) async throws -> Value {
        try await scene.cluster.eventLoop.submit { [cluster = scene.cluster] in value(cluster) }.get()
    }

    private static func terms(_ scene: RedisClusterScene) async throws -> [MasterTerm?] {
        try await read(scene) { cluster in slots.map { cluster.term(ofSlot: $0) } }
    }

    @Test func aConnectConcernsTheSlotsOfItsMaster() async throws {
        try await RedisClusterScene.run(replicas: 1) { scene in
            let connects = Recording<SlotScope>()
            scene.cluster.onConnected { connects.add($0) }
            try await connects.wait(for: 3, "connects")
            let scopes = connects.all
            for slot in Self.slots { #expect(scopes.count { $0.contains(slot) } == 1, "\(slot)") }
            #expect(try await Self.read(scene) { $0.slotsOfMasters } == [0, 5461, 10922])
            let before = try await Self.terms(scene)
            try await waitUntil("readiness") {
                let state = await scene.cluster.checkReadiness()
                return state == .ready ? nil : "\(state)"
            }

            try await scene.servers.servers[0].kill()
            let address = "127.0.0.1:\(scene.servers.servers[0].port)"
            try await waitUntil("a master that is named") {
                let state = await scene.cluster.checkReadiness()
                let expected = RedisReadiness(isReady: true, problem: "no answer from \(address), of 3 masters")
                return state == expected ? nil : "\(state)"
            }
            #expect(try await Self.terms(scene)[0] == nil)
            try await connects.wait(for: 4, "connects", within: .seconds(30))
            guard case .slots(let renewed) = connects.all[3] else { throw TestFailure("all slots were renewed") }
            #expect(renewed == Set(0..<5461))
            let after = try await Self.terms(scene)
            #expect(after[1] == before[1] && after[2] == before[2])
            #expect(after[0] != nil && after[0]?.number != before[0]?.number)
            #expect(after[0]?.address.port == scene.servers.servers[3].port)
            #expect(await scene.cluster.checkReadiness() == .ready)
            #expect(connects.all.count == 4)
        }
    }

    /// More than half of the masters must answer.
    @Test func aMinorityIsNotReady() async throws {
        try await RedisClusterScene.run { scene in
            try await waitUntil("readiness") { await scene.cluster.checkReadiness() == .ready ? nil : "not ready" }
            for master in 0..<2 { try await scene.servers.servers[master].kill() }
            try await waitUntil("the outage") {
                let state = await scene.cluster.checkReadiness()
                return !state.isReady && state.problem?.contains("of 3 masters") == true ? nil : "\(state)"
            }
            #expect(!scene.cluster.isConnected)
        }
    }

    /// A lease at another master is judged as before; one at the new master only when others
    /// have had the time to renew it.
    @Test func uptimeIsOfEachMaster() async throws {
        try await RedisClusterScene.run(replicas: 1) { scene in
            let uptime = RedisUptime(connection: scene.cluster)
            let asking = Task { try await uptime.run() }
            for slot in Self.slots {
                try await waitUntil("an answer") { await uptime.since(ofSlot: slot) == nil ? "none" : nil }
            }
            #expect(try await uptime.wait(for: .zero) {})
            let before = await uptime.since(ofSlot: Self.slots[1])
            let first = try #require(await uptime.since(ofSlot: Self.slots[0]))
            try await scene.servers.servers[0].kill()
            try await waitUntil("the outage") { await uptime.since(ofSlot: Self.slots[0]) == nil ? nil : "known" }
            // Held back by the dead master, the others' answers would come too late.
            for _ in 0..<30 {
                #expect(await uptime.since(ofSlot: Self.slots[1]) == before)
                try await letPass(.milliseconds(100), "the outage lasts")
            }
            try await waitUntil("a new master", within: .seconds(30)) {
                await uptime.since(ofSlot: Self.slots[0]) == nil ? "none" : nil
            }
            let later = try #require(await uptime.since(ofSlot: Self.slots[0]))
            #expect(later - first > .seconds(2), "the new master's time begins with its first answer as a master")
            #expect(await uptime.since(ofSlot: Self.slots[1]) == before)
            asking.cancel()
            try await asking.value
        }
    }

    /// Only what may be lost is sent again.
    @Test func commandsOfOtherMastersAreNotSentAgain() async throws {
        try await RedisClusterScene.run(replicas: 1) { scene in
            let cluster = RedisClient(
                configuration: try RedisConfiguration(url: scene.servers.url), eventLoop: scene.cluster.eventLoop,
                libraries: [.streams], logger: RedisScene.logger)
            cluster.start()
            let sender = CommandSender(sender: .gateway(GatewayID("g")), connection: cluster, logger: RedisScene.logger)
            let questions = try Self.slots.indices.map { try Self.question(ofMaster: $0) }
            let streams = questions.map { question in
                KeySpace.commands(.channelState, in: cluster.bus.partition(of: question.subject))
            }
            try await waitUntil("masters") {
                let areKnown = try await Self.read(scene) { _ in
                    Self.slots.allSatisfy { cluster.term(ofSlot: $0) != nil }
                }
                return areKnown ? nil : "away"
            }
            for question in questions {
                cluster.eventLoop.execute { sender.send(question, within: .seconds(120)) { _ in } }
            }
            try await waitUntil("the commands") {
                let lengths = try await Self.lengths(scene, streams)
                return lengths == [1, 1, 1] ? nil : "\(lengths)"
            }
            // A subscriber that was away for the slots of the last master.
            let slot = cluster.bus.partition(of: questions[2].subject).slot
            for _ in 0..<2 {
                try await cluster.eventLoop.submit { sender.resendPending(.slots([slot])) }.get()
            }
            try await scene.servers.servers[0].kill()
            try await waitUntil("repetitions at the new master and for the subscriber", within: .seconds(30)) {
                // On a busy machine a failover may take longer than a command waits.
                let lengths = try? await Self.lengths(scene, streams)
                return lengths == [2, 1, 2] ? nil : "\(lengths ?? [])"
            }
            await cluster.close()
        }
    }

    /// The master does not answer, and another one, which is connected, takes its slots over:
    /// what was under way is sent again.
    @Test func aCommandUnderWayToAMasterThatIsReplacedIsSentToItsSuccessor() async throws {
        try await RedisClusterScene.run { scene in
            let cluster = RedisClient(
                configuration: try RedisConfiguration(url: scene.servers.url), eventLoop: scene.cluster.eventLoop,
                libraries: [.streams], logger: RedisScene.logger)
            cluster.start()
            let sender = CommandSender(sender: .gateway(GatewayID("g")), connection: cluster, logger: RedisScene.logger)
            let question = try Self.question(ofMaster: 0)
            let partition = cluster.bus.partition(of: question.subject)
            let stream = KeySpace.commands(.channelState, in: partition)
            try await waitUntil("a master with a clock") {
                try await Self.read(scene) { _ in cluster.clock(ofSlot: partition.slot)?.now } == nil ? "none" : nil
            }
            await scene.servers.servers[0].freeze(true)
            cluster.eventLoop.execute { sender.send(question, within: .seconds(120)) { _ in } }
            for name in ["DELSLOTSRANGE", "ADDSLOTSRANGE"] {
                try await scene.servers.execute(RedisCommand("CLUSTER", .string(name), 0, 5460), on: 1)
            }
            try await waitUntil("the command at the successor") {
                let lengths = try? await Self.lengths(scene, [stream])
                return lengths == [1] ? nil : "\(lengths ?? [])"
            }
            await cluster.close()
        }
    }

    /// A question about a channel whose slot a master owns.
    private static func question(ofMaster master: Int) throws -> CountMembers {
        for number in 0... {
            let channel = ChannelKey(app: try AppID("app"), name: try ChannelName("room\(number)"))
            let slot = Int(KeySpace.slot(of: .channel(channel)))
            if slot * 3 / 16_384 == master { return CountMembers(channel: channel) }
        }
        throw TestFailure("no channel")
    }

    private static func lengths(_ scene: RedisClusterScene, _ streams: [String]) async throws -> [Int64] {
        let commands = streams.map { RedisCommand("XLEN", .string($0)).inSlot(KeySlot.of($0)) }
        return try await scene.cluster.execute(commands).map { try $0.get().int ?? -1 }
    }
}
