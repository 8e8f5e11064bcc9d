import ClusterBus
import ClusterState
import Pacing
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct ClusterInstanceTests {
    private static func instance(
        _ name: String, _ scene: RedisScene, level: Int64 = 2, layout: RedisLayout = .current,
        settling: Duration = .zero
    ) throws -> ClusterInstance {
        var terms = Self.terms
        (terms.level, terms.layout, terms.settling) = (level, layout, settling)
        return try instance(name, scene, terms)
    }

    /// Terms whose pauses are short enough for a test.
    private static var terms: ClusterInstance.Terms {
        var terms = ClusterInstance.Terms()
        (terms.level, terms.pause, terms.settling) = (2, .milliseconds(100), .zero)
        return terms
    }

    private static func instance(
        _ name: String, _ scene: RedisScene, _ terms: ClusterInstance.Terms
    ) throws -> ClusterInstance {
        ClusterInstance(
            kind: "probe", name: name, redis: try scene.server.configuration, terms: terms, logger: RedisScene.logger)
    }

    private static func joined(
        _ name: String, _ scene: RedisScene, level: Int64, settling: Duration = .zero
    ) async throws -> ClusterInstance {
        let instance = try instance(name, scene, level: level, settling: settling)
        try await instance.check(on: scene.eventLoop)
        try await instance.join(on: RedisFailover(scene.connection))
        return instance
    }

    private static func refusal(_ instance: ClusterInstance, _ scene: RedisScene) async throws -> ClusterRefusal? {
        do {
            try await instance.check(on: scene.eventLoop)
            return nil
        } catch let refusal as ClusterRefusal {
            return refusal
        }
    }

    private static func keys(_ scene: RedisScene) async throws -> Set<String> {
        // The scene's own connection names its libraries at some moment.
        Set(try await scene.connection.execute(RedisCommand("KEYS", "*")).texts).subtracting([KeySpace.libraries])
    }

    @Test func theClusterHasTheLeastLevelOfTheRunning() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let old = try await Self.joined("old", scene, level: 1)
            #expect(old.clusterLevel == 1)
            let new = try await Self.joined("new", scene, level: 2)
            #expect(new.clusterLevel == 1)
            let running = try await RunningInstances.list(scene.connection)
            #expect(running.map(\.id) == [new.id, old.id] && running.map(\.record.level) == [2, 1])
            #expect(
                running.allSatisfy {
                    $0.record.kind == "probe" && !$0.record.host.isEmpty && $0.record.since.milliseconds > 0
                })

            let staying = Task { try await new.stay(on: RedisFailover(scene.connection)) }
            await old.leave(on: RedisFailover(scene.connection))
            try await waitUntil("the higher level") { new.clusterLevel == 2 ? nil : "\(new.clusterLevel)" }
            #expect(try await RunningInstances.list(scene.connection).map(\.id) == [new.id])
            staying.cancel()
            try await staying.value
        }
    }

    @Test func beforeItHasJoinedTheLevelIsThatOfTheReleaseBefore() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let instance = try Self.instance("one", scene, level: 4)
            #expect(instance.clusterLevel == 3 && !instance.hasJoined)
        }
    }

    @Test(arguments: [1, 5] as [Int64]) func whoseLevelIsMoreThanOneApartIsRefusedAndWritesNothing(level: Int64)
        async throws
    {
        try await RedisScene.run(libraries: [.instances]) { scene in
            _ = try await Self.joined("running", scene, level: 3)
            let before = try await Self.keys(scene)
            let libraries = try await scene.connection.execute(RedisCommand("FUNCTION", "LIST"))
            let stranger = try Self.instance("stranger", scene, level: level)
            #expect(try await Self.refusal(stranger, scene) == .level(own: level, running: 3))
            #expect(try await Self.keys(scene) == before)
            #expect(try await scene.connection.execute(RedisCommand("FUNCTION", "LIST")) == libraries)
        }
    }

    @Test func oneThatJoinedBetweenCheckAndJoinIsNoticed() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let late = try Self.instance("late", scene, level: 1)
            try await late.check(on: scene.eventLoop)
            let first = try await Self.joined("first", scene, level: 3)
            await #expect(throws: ClusterRefusal.level(own: 1, running: 3)) {
                try await late.join(on: RedisFailover(scene.connection))
            }
            #expect(!late.hasJoined)
            #expect(try await RunningInstances.list(scene.connection).map(\.id) == [first.id])
        }
    }

    /// The connections of a gateway's shards: one hangs, and the process's record is kept over the other.
    @Test func aConnectionWithoutAnAnswerIsPassedOver() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let frozen = try await RedisServer(appendOnly: false)
            let hanging = RedisClient(
                configuration: try frozen.configuration, eventLoop: scene.eventLoop, libraries: [.instances],
                logger: RedisScene.logger)
            hanging.start()
            try await waitUntil("a connection that will hang") { hanging.isConnected ? nil : "not connected" }
            await frozen.freeze(true)
            let redis = RedisFailover([hanging, scene.connection])
            let instance = try Self.instance("one", scene)
            try await instance.join(on: redis)
            _ = try await scene.connection.execute(RedisCommand("DEL", .string(KeySpace.instance(instance.id))))
            let staying = Task { try await instance.stay(on: redis) }
            try await waitUntil("the record") {
                let running = try await RunningInstances.list(scene.connection).map(\.id)
                return running == [instance.id] ? nil : "\(running)"
            }
            staying.cancel()
            try await staying.value
            await instance.leave(on: redis)
            #expect(try await RunningInstances.list(scene.connection) == [])
            await frozen.freeze(false)
            await hanging.close()
            try await frozen.remove()
        }
    }

    @Test func whoNoLongerRenewsDoesNotCount() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let past = try await scene.connection.time() + (.zero - RunningInstances.timeToLive - .milliseconds(1))
            for command in [
                RedisCommand("ZADD", .string(KeySpace.instances), .time(past), "dead"),
                RedisCommand("ZADD", .string(KeySpace.instanceLevels), 9, "dead"),
            ] { _ = try await scene.connection.execute(command) }
            let instance = try await Self.joined("one", scene, level: 2)
            #expect(instance.clusterLevel == 2)
            let levels = RedisCommand("ZRANGE", .string(KeySpace.instanceLevels), 0, -1)
            #expect(try await scene.connection.execute(levels).texts == [instance.id])
            let left = try await scene.connection.execute(RedisCommand("PTTL", .string(KeySpace.instance(instance.id))))
            let most = RunningInstances.timeToLive.wholeMilliseconds
            #expect((most - 10_000...most).contains(left.int ?? -1))
        }
    }

    @Test func whoLowersTheLevelWaitsUntilTheOthersKnow() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let new = try await Self.joined("new", scene, level: 2)
            let staying = Task { try await new.stay(on: RedisFailover(scene.connection)) }
            var terms = Self.terms
            (terms.level, terms.pause) = (1, .seconds(1))
            let old = try Self.instance("old", scene, terms)
            try await old.check(on: scene.eventLoop)
            #expect(new.clusterLevel == 2)
            let begun = ContinuousClock.now
            try await old.join(on: RedisFailover(scene.connection))
            #expect(ContinuousClock.now - begun >= .milliseconds(1500))
            #expect(new.clusterLevel == 1)
            staying.cancel()
            try await staying.value
        }
    }

    /// After an outage in which all records expired, the first to come back must not take itself for the only one.
    @Test func afterAnOutageTheLevelRisesOnlyWhenAllHaveHadTheTimeToComeBack() async throws {
        let settling = Duration.seconds(3) * patience
        try await RedisScene.run(libraries: [.instances]) { scene in
            let redis = RedisFailover(scene.connection)
            let old = try await Self.joined("old", scene, level: 1)
            let new = try await Self.joined("new", scene, level: 2, settling: settling)
            #expect(new.clusterLevel == 1)
            for command in [
                RedisCommand("DEL", .string(KeySpace.instances), .string(KeySpace.instanceLevels)),
                RedisCommand("FUNCTION", "FLUSH"),
            ] { _ = try await scene.connection.execute(command) }

            let staying = Task { try await new.stay(on: redis) }
            try await waitUntil("a process that is back") {
                let running = try await RunningInstances.list(scene.connection).map(\.id)
                return running == [new.id] ? nil : "\(running)"
            }
            try await letPass(.milliseconds(500), "it renews its record")
            #expect(new.clusterLevel == 1)
            // What an older process would refuse may be sent already.
            #expect(new.runningLevel == 2)
            // One that starts at that moment knows no better.
            let third = try await Self.joined("third", scene, level: 2, settling: settling)
            #expect(third.clusterLevel == 1)
            let back = Task { try await old.stay(on: redis) }
            try await letPass(settling, "the older one is back")
            #expect(new.clusterLevel == 1)

            back.cancel()
            try await back.value
            await old.leave(on: redis)
            try await waitUntil("the higher level") { new.clusterLevel == 2 ? nil : "\(new.clusterLevel)" }
            staying.cancel()
            try await staying.value
        }
    }

    /// Records of processes that live expire while nobody can renew them: a pause of half their time
    /// to live starts the count anew.
    @Test func aPauseOfAllRenewalsIsNoticed() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let keys = [KeySpace.instances, KeySpace.instanceLevels, KeySpace.instance("one"), KeySpace.layout]
            let renewal = RedisCommand.function(
                "instance_renew", keys: keys,
                arguments: ["one", 1, 1000, 2, "flavour", "single", "kind", "probe", "level", 1])
            func unbroken() async throws -> Int64 {
                try #require(try await scene.connection.execute(renewal).array?[2].int)
            }
            #expect(try await unbroken() == 0)
            try await waitUntil("renewals without a pause") {
                let time = try await unbroken()
                return time > 600 ? nil : "\(time)"
            }
            try await letPass(.milliseconds(600), "nobody renews")
            #expect(try await unbroken() == 0)
        }
    }

    private static let other = RedisLayout(flavour: .cluster, buckets: 4096, partitions: 24, keys: 2)

    @Test func theLayoutIsWrittenOnceAndAnotherIsRefused() async throws {
        try await RedisScene.run(libraries: []) { scene in
            #expect(try await Self.refusal(Self.instance("first", scene), scene) == nil)
            let written = try await scene.connection.execute(RedisCommand("HGETALL", .string(KeySpace.layout))).texts
            #expect(written == ["flavour", "single", "buckets", "4096", "partitions", "1", "keys", "2"])
            #expect(try await Self.refusal(Self.instance("second", scene), scene) == nil)
            let refusal = try await Self.refusal(Self.instance("other", scene, layout: Self.other), scene)
            #expect(refusal == .layout(found: RedisLayout.current.description, needed: Self.other))
            let line = try #require(refusal?.description)
            #expect(line.contains("flavour single, 4096 buckets") && line.contains("flavour cluster, 4096 buckets"))
            #expect(try await Self.keys(scene) == [KeySpace.layout])
        }
    }

    @Test func aLayoutThatCannotBeReadIsRefused() async throws {
        try await RedisScene.run(libraries: []) { scene in
            _ = try await scene.connection.execute(
                RedisCommand("HSET", .string(KeySpace.layout), "flavour", "novel", "buckets", 3))
            let refusal = try await Self.refusal(Self.instance("first", scene), scene)
            #expect(refusal == .layout(found: "flavour novel, buckets 3", needed: .current))
        }
    }

    @Test func ofTwoLayoutsAtTheSameTimeOneWins() async throws {
        try await RedisScene.run(libraries: []) { scene in
            for _ in 0..<20 {
                _ = try await scene.connection.execute(RedisCommand("FLUSHALL"))
                async let one = try await Self.refusal(Self.instance("one", scene), scene)
                async let two = try await Self.refusal(Self.instance("two", scene, layout: Self.other), scene)
                let refusals = try await [one, two]
                #expect(refusals.filter { $0 == nil }.count == 1, "\(refusals)")
            }
        }
    }

    @Test func aHeartbeatWritesTheLayoutAgainWhenRedisHasLostIt() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let instance = try await Self.joined("one", scene, level: 2)
            _ = try await scene.connection.execute(RedisCommand("FLUSHALL"))
            let staying = Task { try await instance.stay(on: RedisFailover(scene.connection)) }
            try await waitUntil("the record and the layout") {
                let running = try await RunningInstances.list(scene.connection).map(\.id)
                return running == [instance.id] ? nil : "\(running)"
            }
            let layout = try await scene.connection.execute(RedisCommand("HGET", .string(KeySpace.layout), "flavour"))
            #expect(layout.string == "single")
            let other = try Self.instance("other", scene, layout: Self.other)
            #expect(try await Self.refusal(other, scene) != nil)
            staying.cancel()
            try await staying.value
        }
    }

    @Test func anInstanceIsAskedToDrainOnce() async throws {
        try await RedisScene.run(libraries: [.instances]) { scene in
            let asked = AsyncStream<Void>.makeStream()
            var terms = Self.terms
            terms.drain = { asked.continuation.yield() }
            let redis = RedisFailover(scene.connection)
            let (one, other) = (try Self.instance("one", scene, terms), try await Self.joined("other", scene, level: 2))
            try await one.check(on: scene.eventLoop)
            try await one.join(on: redis)
            #expect(try await RunningInstances.isRunning(one.id, on: scene.connection))
            #expect(try await !RunningInstances.drain("nobody", on: scene.connection))
            let staying = Task { try await one.stay(on: redis) }
            #expect(try await RunningInstances.drain(one.id, on: scene.connection))
            var orders = asked.stream.makeAsyncIterator()
            _ = await orders.next()
            let listed = try await RunningInstances.list(scene.connection)
            #expect(listed.map { [$0.id: $0.record.isDraining] } == [[one.id: true], [other.id: nil]])
            // It is told with each heartbeat, and acts once.
            for _ in 0..<3 {
                let before = try await Self.heartbeat(of: one, scene)
                try await waitUntil("another heartbeat") {
                    try await Self.heartbeat(of: one, scene) > before ? nil : "\(before)"
                }
            }
            asked.continuation.finish()
            #expect(await orders.next() == nil)
            staying.cancel()
            _ = try? await staying.value
            await one.leave(on: redis)
            #expect(try await !RunningInstances.isRunning(one.id, on: scene.connection))
        }
    }

    private static func heartbeat(of instance: ClusterInstance, _ scene: RedisScene) async throws -> Double {
        let question = RedisCommand("ZSCORE", .string(KeySpace.instances), .string(instance.id))
        let score = try await scene.connection.execute(question)
        return try #require(score.string.flatMap { Double($0) })
    }
}
