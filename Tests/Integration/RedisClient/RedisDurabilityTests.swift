import NIOCore
import RedisClient
import TestKit
import Testing

/// Durable commands of a single Redis with a replica.
@Suite(.serialized) struct RedisDurabilityTests {
    @Test func plainCommandsDoNotWait() async throws {
        try await RedisReplicaScene.run(limit: .seconds(10)) { scene in
            #expect(await scene.push(1) == nil)
            #expect(try await scene.numbers(in: 1) == [1], "the replica has it when it is acknowledged")
            await scene.replica.freeze(true)
            let durable = Task { await scene.push(2) }
            try await waitUntil("the question about replicas") {
                try await scene.clients(with: "flags=b ").isEmpty ? "none" : nil
            }
            for number in 0..<100 {
                let reply = try await scene.client.execute(RedisCommand("ECHO", .int(number)))
                #expect(reply.int == Int64(number) || reply.string == "\(number)")
            }
            #expect(try await !scene.clients(with: "flags=b ").isEmpty, "the durable command still waits")
            await scene.replica.freeze(false)
            #expect(await durable.value == nil)
        }
    }

    @Test func aReplicaThatLagsIsWaitedFor() async throws {
        try await RedisReplicaScene.run(lag: .milliseconds(100), limit: .seconds(10)) { scene in
            let start = ContinuousClock.now
            #expect(await scene.push(1) == nil)
            #expect(.now - start >= .milliseconds(100))
            let numbers = try await scene.numbers(in: 1)
            #expect(numbers == [1])
        }
    }

    @Test func aFrozenReplica() async throws {
        try await RedisReplicaScene.run { scene in
            // On a busy machine the first may take longer than a replica is waited for.
            try await waitUntil("the replica") { await scene.push(1).map { "\($0)" } }
            await scene.replica.freeze(true)
            for _ in 0..<2 {
                let start = ContinuousClock.now
                // The second time the function finds the number, and writes nothing.
                #expect(await scene.push(2)?.code == .unreplicated)
                #expect(.now - start >= .milliseconds(500))
                #expect(.now - start < .milliseconds(1500) * patience)
            }
            #expect(try await scene.numbers() == [1, 2])
            await scene.replica.freeze(false)
            try await waitUntil("the replica") { await scene.push(2).map { "\($0)" } }
            #expect(try await scene.numbers() == [1, 2])
            #expect(try await scene.numbers(in: 1) == [1, 2])
        }
    }

    @Test func tooFewReplicas() async throws {
        try await RedisReplicaScene.run(replicas: 2) { scene in
            #expect(await scene.push(1)?.code == .unreplicated)
            let list = try await scene.client.execute(RedisReplicaScene.list)
            #expect(list.array?.count == 1)
        }
    }

    /// Commands whose answers are kept when their connection breaks: what may be repeated is sent again.
    @Test func theConnectionBreaksMeanwhile() async throws {
        try await RedisReplicaScene.run(limit: .seconds(20)) { scene in
            _ = await scene.push(0)
            let id = try await scene.client.execute(RedisCommand("CLIENT", "ID")).int ?? 0
            await scene.replica.freeze(true)
            let results = Recording<String>()
            scene.client.eventLoop.execute {
                for number in 1...3 {
                    let until: NIODeadline? = number == 2 ? nil : .now() + .seconds(60)
                    scene.client.send(RedisReplicaScene.pushing(number), repeatedUntil: until) { result in
                        let error: RedisError? = if case .failure(let error) = result { error } else { nil }
                        results.add("\(number) \(error?.code.rawValue ?? "OK")")
                    }
                }
            }
            try await waitUntil("the question about replicas") {
                try await scene.clients(with: "flags=b ").isEmpty ? "none" : nil
            }
            #expect(results.all.isEmpty)
            try await scene.disconnect("id=\(id) ")
            try await results.wait(for: 1, "failure")
            #expect(results.all == ["2 CLOSED"])
            await scene.replica.freeze(false)
            try await results.wait(for: 3, "answers")
            #expect(results.all == ["2 CLOSED", "1 OK", "3 OK"])
            #expect(try await scene.numbers(in: 1) == [0, 1, 2, 3])
        }
    }

    /// The connection of the question breaks: what it was about fails, and the next question is asked on another.
    @Test func theQuestionIsLost() async throws {
        try await RedisReplicaScene.run(limit: .seconds(20)) { scene in
            await scene.replica.freeze(true)
            let durable = Task { await scene.push(1) }
            try await waitUntil("the question about replicas") {
                try await scene.clients(with: "flags=b ").isEmpty ? "none" : nil
            }
            for line in try await scene.clients(with: "flags=b ") { try await scene.disconnect(line) }
            #expect(await durable.value?.code == .unreplicated)
            await scene.replica.freeze(false)
            #expect(await scene.push(1) == nil)
            #expect(try await scene.numbers(in: 1) == [1])
        }
    }

    /// Behind an address that leads to another server from now on: its replicas count, not those of the server before.
    @Test func theAnswerComesFromTheServerThatWrote() async throws {
        try await RedisReplicaScene.run { scene in
            #expect(await scene.push(1) == nil)
            let other = try await RedisServer(appendOnly: false)
            let id = try await scene.client.execute(RedisCommand("CLIENT", "ID")).int ?? 0
            scene.entrance.lead(to: other.port)
            try await scene.disconnect("id=\(id) ")
            try await waitUntil("the other server") {
                let port = (try? await scene.client.execute(RedisCommand("CONFIG", "GET", "port")))?.array?.last?.string
                return port == "\(other.port)" ? nil : "\(port ?? "none")"
            }
            #expect(await scene.push(2)?.code == .unreplicated)
            try await other.remove()
        }
    }

    @Test func nothingIsOpenedOrAskedWithoutNeed() async throws {
        try await RedisReplicaScene.run(replicas: 0) { scene in
            #expect(await scene.push(1) == nil)
            let statistics = try await scene.observers[0].execute(RedisCommand("INFO", "commandstats")).string ?? ""
            #expect(!statistics.contains("cmdstat_wait"))
            #expect(
                try await scene.clients(with: "cmd=").filter { !$0.contains("flags=S") }.count == 2, "and the observer")
        }
        try await RedisReplicaScene.run(replicas: 1) { scene in
            _ = try await scene.client.execute(RedisCommand("PING"))
            #expect(
                try await scene.clients(with: "cmd=").filter { !$0.contains("flags=S") }.count == 2, "and the observer")
        }
    }
}
