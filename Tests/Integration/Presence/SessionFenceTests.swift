import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// A session that is over, or that has moved to another gateway, can no longer act.
@Suite struct SessionFenceTests {
    private typealias Message = MessageStoreScene.Message

    private func send(_ session: String, in scene: MessageStoreScene) async throws -> Int64 {
        try await scene.sendTogether([
            Message(to: scene.user, session: SessionID(session), line: "x", command: CommandID("c"))
        ])[0].get()
    }

    @Test func onlyThePresentSessionSends() async throws {
        try await MessageStoreScene.run { scene in
            #expect(try await refusal { try await send("s1", in: scene) } == "1003 session_over")
            #expect(try await scene.lines().isEmpty)
            // The session is detached in Redis, but the gateway may reconnect before presence hears of it.
            try await scene.open("s1", of: scene.sender, at: "")
            #expect(try await send("s1", in: scene) > 0)
            // The session was resumed at another gateway.
            try await scene.open("s1", of: scene.sender, at: "gateway-2")
            #expect(try await refusal { try await send("s1", in: scene) } == "1003 session_over")
            try await scene.open("", of: scene.sender, at: "")
            #expect(try await refusal { try await send("s1", in: scene) } == "1003 session_over")
            // Redis came back empty, and the gateway has not yet reasserted its sessions.
            try await scene.command("DEL", .string(KeySpace.tag(scene.sender) + ":box"))
            #expect(try await refusal { try await send("s1", in: scene) } == "1001 unavailable")
        }
    }

    @Test func aRefusalHarmsNoOtherMessageOfTheCall() async throws {
        try await MessageStoreScene.run { scene in
            let results = await scene.sendTogether([
                Message(to: scene.user, session: SessionID("over"), line: "1"), Message(to: scene.user, line: "2"),
                Message(to: scene.user, session: SessionID("over"), line: "3"), Message(to: scene.user, line: "4"),
            ])
            let isSent = results.map { (try? $0.get()) != nil }
            #expect(isSent == [false, true, false, true])
            let lines = try await scene.lines()
            #expect(lines == ["2", "4"])
        }
    }

    @Test func onlyThePresentSessionReadsAndForgets() async throws {
        try await MessageStoreScene.run { scene in
            let version = try await scene.send("for the new login").version
            try await scene.openSession("s2")
            let old = SessionFence(session: SessionID("s1"), gateway: scene.gateway)
            #expect(try await refusal { try await scene.read(in: old) } == "1003 session_over")
            #expect(try await refusal { try await scene.clear(in: old, through: version) } == "1003 session_over")
            #expect(try await scene.lines() == ["for the new login"])
        }
    }
}
