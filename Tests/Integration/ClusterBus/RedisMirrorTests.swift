import BusProtocol
import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct RedisMirrorTests {
    @Test func copiedInBatchesAtLeastOnce() async throws {
        try await RedisScene.run { scene in
            let seen = Recording<[Int]>()
            let attempts = Recording<Int>()
            let commands = (0..<1200).map { number in
                MirrorStream.recording(MemberCount(count: number), for: .presence, in: .whole)
            }
            for result in await scene.connection.execute(commands) { _ = try result.get() }
            let mirror = MirrorConsumer(
                .changes(.presence), instance: "one", connection: scene.connection, logger: RedisScene.logger
            ) { rows in
                attempts.add(rows.count)
                // PostgreSQL is unavailable for the first two attempts.
                if attempts.all.count <= 2 { throw SignalingError.unavailable("postgres") }
                seen.add(try rows.map { try $0.int("count") })
            }
            let running = Task { try await mirror.run() }
            try await waitUntil("all rows") {
                let count = seen.all.map(\.count).reduce(0, +)
                return count >= 1200 ? nil : "\(count)"
            }
            #expect(seen.all.flatMap(\.self) == Array(0..<1200))
            #expect(attempts.all.max() == 500)
            try await waitUntil("an empty stream") {
                let length = try await scene.connection.execute(RedisCommand("XLEN", "mirror:presence")).int
                return length == 0 ? nil : "\(length ?? -1)"
            }
            running.cancel()
            try await running.value
        }
    }
}
