import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// While Redis is filling, memory is refused first to the app that fills it.
@Suite(.timeLimit(.minutes(1))) struct MemoryShareTests {
    private typealias Message = MessageStoreScene.Message

    /// Of `maxmemory`, as in prelude.lua.
    private static let share = 0.05
    private static let line = String(repeating: "x", count: 8192)

    /// Sets `maxmemory` so that this part of it is in use, and waits until Redis' functions have noticed.
    /// - Returns: the share of one app in bytes.
    private static func use(_ part: Double, of scene: MessageStoreScene) async throws -> Int {
        // Much more than the buffers of clients, which come and go.
        try await scene.command("SETRANGE", "{filler}", .int(8 << 20), "x")
        let used = try await scene.redis.information("used_memory", section: "memory")
        let bound = Int64(Double(used) / part)
        try await scene.command("CONFIG", "SET", "maxmemory", .int64(bound))
        try await letPass(.milliseconds(1100), "functions look at the memory once a second")
        return Int(Double(bound) * share)
    }

    /// Sends messages to a user until one is refused.
    /// - Returns: how many were not.
    private static func fill(_ scene: MessageStoreScene, _ user: UserKey) async throws -> Int {
        for sent in 0..<200 {
            switch await scene.sendTogether([Message(to: user, line: line, bound: 1000)])[0] {
            case .success: continue
            case .failure(.memoryFull): return sent
            case .failure(let error): throw error
            }
        }
        throw TestFailure("never refused")
    }

    @Test func theAppThatFillsRedisIsRefusedFirst() async throws {
        try await MessageStoreScene.run { scene in
            let other = UserKey(app: try AppID("other"), account: scene.user.account)
            let share = try await Self.use(0.6, of: scene)
            let sent = try await Self.fill(scene, scene.user)
            #expect(sent == share / (Self.line.utf8.count + 64))
            #expect(await scene.sendTogether([Message(to: scene.user, line: "x")]) != [.failure(.memoryFull)])
            #expect(try await scene.say("channels go on", by: scene.sender.account, force: true).sequence == 0)
            let others = try await Self.fill(scene, other)
            #expect(others == sent, "another app has a share of its own")

            // What was read makes room.
            try await scene.clear(through: 1 << 52)
            #expect(try await Self.fill(scene, scene.user) == sent)
        }
    }

    @Test func nothingIsCountedBelowHalf() async throws {
        try await MessageStoreScene.run { scene in
            _ = try await Self.use(0.2, of: scene)
            await #expect(throws: TestFailure.self) { try await Self.fill(scene, scene.user) }
        }
    }
}
