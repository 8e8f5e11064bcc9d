import ClusterBus
import RedisClient
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RedisRoundTests {
    @Test func oneProcessTakesTheLockUntilItExpires() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let other = try await scene.otherConnection()
            let locks = [scene.connection, other].map {
                RoundLock(key: "round:test", timeToLive: .seconds(60), connection: $0)
            }
            #expect(try await locks[0].take())
            #expect(try await !locks[1].take())
            // Not even its holder does a second round.
            #expect(try await !locks[0].take())
            let left = try await scene.connection.execute(RedisCommand("PTTL", "round:test")).int ?? 0
            #expect((30_000...60_000).contains(left))
            _ = try await scene.connection.execute(RedisCommand("PEXPIRE", "round:test", 1))
            try await waitUntil("the lock") { try await locks[1].take() ? nil : "still held" }
            await other.close()
        }
    }

    @Test func aJobWhoseLockAnotherHoldsDoesNoRound() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let lock = RoundLock(key: "round:test", timeToLive: .seconds(3600), connection: scene.connection)
            #expect(try await lock.take())
            let rounds = Recording<Void>()
            let job = SingletonJob(
                "test", every: .seconds(3600), connection: scene.connection, logger: RedisScene.logger
            ) { _ in rounds.add(()) }
            let running = Task { try await job.run() }
            try await waitUntil("the job's attempt") {
                let calls = try await scene.connection.execute(RedisCommand("INFO", "commandstats")).string ?? ""
                return calls.contains("cmdstat_set:calls=2,") ? nil : "no second SET"
            }
            running.cancel()
            try await running.value
            #expect(rounds.all.isEmpty)
        }
    }

    @Test func aRoundThatIsTakenOverEnds() async throws {
        try await RedisScene.run(libraries: []) { scene in
            let codes = Recording<RedisError.Code>()
            let job = SingletonJob(
                "test", every: .seconds(3600), connection: scene.connection, logger: RedisScene.logger
            ) { renew in
                try await renew()
                _ = try await scene.connection.execute(RedisCommand("DEL", "round:test"))
                do { try await renew() } catch let error as RedisError { codes.add(error.code) }
            }
            let running = Task { try await job.run() }
            try await codes.wait(for: 1, "lost rounds")
            running.cancel()
            try await running.value
            #expect(codes.all == [.lost])
        }
    }
}
