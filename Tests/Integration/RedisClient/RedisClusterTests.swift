import ClusterState
import NIOCore
import NIOPosix
import RedisClient
import Synchronization
import TestKit
import Testing

/// The client of Redis Cluster with real servers.
@Suite(.serialized) struct RedisClusterTests {
    @Test func commandsGoToTheMasterOfTheirSlot() async throws {
        try await RedisClusterScene.run { scene in
            try await scene.cluster.verify()
            for number in 0..<30 {
                let key = "key\(number)"
                let set = RedisCommand("SET", .string(key), .int(number)).inSlot(KeySlot.of(key))
                _ = try await scene.cluster.execute(set)
                _ = try await scene.cluster.execute(.function("push", tag: "{\(key)}", .int(number)))
            }
            // A command without keys goes to the master of its slot.
            var runIDs: Set<String> = []
            for master in 0..<3 {
                #expect(try await scene.servers.execute(RedisCommand("DBSIZE"), on: master).int ?? 0 > 0)
                let slot = RedisClusterScene.slot(of: RedisClusterScene.tag(ofMaster: master))
                let text = try await scene.cluster.execute(RedisCommand("INFO", "server").inSlot(slot)).string ?? ""
                let lines = text.split(whereSeparator: \.isNewline).map(String.init)
                runIDs.formUnion(lines.filter { $0.hasPrefix("run_id:") })
                let clock = try await scene.cluster.eventLoop.submit { scene.cluster.clock(ofSlot: slot)?.now }.get()
                #expect(clock != nil)
            }
            #expect(runIDs.count == 3)
            #expect(scene.cluster.isConnected)
            #expect(await Self.failure(of: RedisCommand("GET", "key1"), scene)?.code == .slot)
            // What is no refusal is an answer.
            let get = RedisCommand("GET", "{key1}:list").inSlot(KeySlot.of("key1"))
            #expect(await Self.failure(of: get, scene)?.code == RedisError.Code(rawValue: "WRONGTYPE"))
        }
    }

    @Test func aMasterWithoutFunctionsGetsThem() async throws {
        try await RedisClusterScene.run { scene in
            try await scene.cluster.verify()
            let tag = RedisClusterScene.tag(ofMaster: 1)
            _ = try await scene.cluster.execute(.function("push", tag: tag, 1))
            try await scene.servers.execute(RedisCommand("FUNCTION", "FLUSH"), on: 1)
            let answers = await scene.cluster.execute((2...4).map { .function("push", tag: tag, .int($0)) })
            #expect(answers.allSatisfy { (try? $0.get()) != nil })
            #expect(try await scene.list(tag) == [1, 2, 3, 4])
        }
    }

    /// The slot is settled at its new owner before the client hears of it: MOVED.
    @Test func aSlotThatHasMoved() async throws {
        try await RedisClusterScene.run { scene in
            try await scene.cluster.verify()
            let tag = RedisClusterScene.tag(ofMaster: 0)
            let slot = Int(RedisClusterScene.slot(of: tag))
            for (source, target) in [(0, 1), (1, 2), (2, 0)] {
                try await scene.servers.beginMigration(ofSlot: slot, from: source, to: target)
                try await scene.servers.moveKeys(ofSlot: slot, from: source, to: target)
                try await scene.servers.endMigration(ofSlot: slot, from: source, to: target)
                let answers = await scene.cluster.execute(
                    (0..<100).map { .function("push", tag: tag, .int(target * 100 + $0)) })
                #expect(answers.allSatisfy { (try? $0.get()) != nil })
            }
            #expect(try await scene.list(tag) == Array(100..<300) + Array(0..<100))
        }
    }

    /// A slot is moved there and back while numbers are sent to it, by a function that has a fence and
    /// by a command that follows ASK.
    @Test(arguments: [true, false])
    func aSlotThatMovesUnderLoad(isFunction: Bool) async throws {
        try await RedisClusterScene.run { scene in
            try await scene.cluster.verify()
            let tag = RedisClusterScene.tag(ofMaster: 0)
            let slot = Int(RedisClusterScene.slot(of: tag))
            let sender = NumberSender(scene.cluster, tag: tag, isFunction: isFunction)
            sender.start()
            for (source, target) in [(0, 1), (1, 0), (0, 2)] {
                let before = sender.acknowledged
                try await waitUntil("load") { sender.acknowledged > before + 50 ? nil : "\(sender.acknowledged)" }
                try await scene.servers.beginMigration(ofSlot: slot, from: source, to: target)
                try await letPass(.milliseconds(100), "commands arrive while the slot is half moved")
                try await scene.servers.moveKeys(ofSlot: slot, from: source, to: target)
                try await scene.servers.endMigration(ofSlot: slot, from: source, to: target)
            }
            let outcomes = try await sender.finish()
            #expect(outcomes.filter { $0.error != nil }.isEmpty)
            #expect(try await scene.list(tag) == Array(0..<outcomes.count))
        }
    }

    /// Later commands on another server wait for the answers to the first.
    @Test func thenAcrossServers() async throws {
        try await RedisClusterScene.run { scene in
            try await scene.cluster.verify()
            let tags = (0..<3).map { RedisClusterScene.tag(ofMaster: $0) }
            let busy = RedisCommand.function("busy", tag: tags[0], 100)
            let later = RedisCommand.function("busy", tag: tags[1], 0)
            let results: [Int64?] = await withCheckedContinuation { continuation in
                scene.cluster.eventLoop.execute {
                    scene.cluster.send([busy, later], then: [later, busy]) { results in
                        continuation.resume(returning: results.map { (try? $0.get())?.int })
                    }
                }
            }
            let times = results.compactMap(\.self)
            #expect(times.count == 4)
            #expect(times[1] < times[0], "the first two are sent together")
            #expect(times[2] > times[0])
        }
    }

    @Test func passwordAndTLS() async throws {
        let servers = try await RedisClusterServers(masters: 1, replicas: 0, password: "s3cret/ß", tls: true)
        try await RedisClusterScene.run(servers) { scene in
            try await scene.cluster.verify()
            let command = RedisCommand("ECHO", "hello").inSlot(5)
            #expect(try await scene.cluster.execute(command).string == "hello")
        }
    }

    /// Any member of the cluster names the masters.
    @Test func aReplicaIsTheOnlyAddress() async throws {
        try await RedisClusterScene.run(replicas: 1) { scene in
            let replica = scene.servers.servers[3]
            let cluster = try RedisClusterScene.client("redis+cluster://127.0.0.1:\(replica.port)")
            try await cluster.verify()
            cluster.start()
            let tag = RedisClusterScene.tag(ofMaster: 2)
            _ = try await cluster.execute(.function("push", tag: tag, 7))
            #expect(try await scene.list(tag) == [7])
            await cluster.close()
            // But not as if it were a server of its own.
            await Self.expectRefusal("redis://127.0.0.1:\(replica.port)", "use redis+cluster://")
        }
    }

    @Test func aSlotThatNobodyServes() async throws {
        try await RedisClusterScene.run(slots: 0..<16_000, configure: RedisClusterScene.impatient) { scene in
            await Self.expectRefusal(scene.servers.url, "no master of the Redis Cluster serves the slots 16000-16383")
            // The others are usable.
            let answer = try await scene.cluster.execute(RedisCommand("ECHO", "x").inSlot(15_999))
            #expect(answer.string == "x")
            #expect(await Self.failure(of: RedisCommand("ECHO", "x").inSlot(16_000), scene)?.code == .timeout)
        }
    }

    @Test func wrongFlavours() async throws {
        let server = try await RedisServer(appendOnly: false)
        let replica = try await RedisServer(
            appendOnly: false, options: ["--replicaof", "127.0.0.1", "\(server.port)"])
        await Self.expectRefusal("redis+cluster://127.0.0.1:\(server.port)", "not a node of a Redis Cluster")
        await Self.expectRefusal("redis://127.0.0.1:\(replica.port)", "is a replica of 127.0.0.1:\(server.port)")
        await Self.expectRefusal("redis+cluster://:wrong@127.0.0.1:\(server.port)", "without any password configured")
        let single = try RedisClusterScene.client(server.url)
        try await single.verify()
        single.start()
        #expect(try await single.execute(RedisCommand("ECHO", "one path")).string == "one path")
        await single.close()
        try await replica.remove()
        try await server.remove()
    }

    private static func failure(of command: RedisCommand, _ scene: RedisClusterScene) async -> RedisError? {
        if case .failure(let error) = await scene.cluster.execute([command])[0] { error } else { nil }
    }

    private static func expectRefusal(
        _ url: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        do {
            let cluster = try RedisClusterScene.client(url)
            try await cluster.verify()
            Issue.record("\(url) was accepted", sourceLocation: sourceLocation)
        } catch {
            let line = "\(error)"
            #expect(line.contains(text) && !line.contains("\n"), "\(line)", sourceLocation: sourceLocation)
        }
    }
}
