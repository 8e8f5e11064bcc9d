import ClusterState
import RedisClient
import SignalingProtocol
import Testing

/// What a session's record keeps of a join, so that another process can go on with it.
@Suite struct SessionEnterTests {
    @Test func aRepetitionFindsWhatWasToBeLeft() async throws {
        try await RedisScene.run(appendOnly: false, libraries: [.memberships]) { scene in
            let tag = "{37x}a:app:u:anna"
            func call(_ function: String, _ arguments: RedisArgument...) async throws -> RedisValue {
                try await scene.connection.execute(.function(function, tag: tag, arguments: arguments))
            }
            func enter(_ channel: String, turn: Int, deadline: RedisArgument = 0) async throws -> [String] {
                try await call("session_enter", "c", deadline, "s1", .string(channel), .int(turn)).texts
            }
            _ = try await scene.connection.execute(RedisCommand("HSET", arguments: ["\(tag):session", "sid", "s1"]))
            #expect(try await enter("tea", turn: 1) == [])
            #expect(try await enter("coffee", turn: 2) == ["tea"])
            // The process has left the first channel, and dies before it is done.
            _ = try await call("session_exit", "s1", "tea", 2)
            #expect(try await enter("coffee", turn: 2) == ["tea"])
            #expect(try await enter("coffee", turn: 2, deadline: 1) == ["tea"], "it was in time when it began")
            _ = try await call("session_entered", "s1", "coffee")
            #expect(try await enter("milk", turn: 3) == ["coffee"])
            _ = try await call("session_exit", "s1", "coffee", 3)
            await #expect(throws: RedisError.self, "there is a later turn") { try await enter("coffee", turn: 2) }
            await #expect(throws: RedisError.self, "it comes too late") {
                try await enter("wine", turn: 4, deadline: 1)
            }
            // A session that leaves nothing finds nothing of joins before.
            _ = try await call("session_exit", "s1", "milk", 4)
            #expect(try await enter("wine", turn: 5) == [])
            #expect(try await enter("wine", turn: 5) == [])
        }
    }
}
