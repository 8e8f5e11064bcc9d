import BusProtocol
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// How long the record that presence and mail share for each user is kept.
@Suite struct PresenceBoxTests {
    private func timeToLive(_ stage: ServicesStage, _ user: UserKey) async throws -> Int64 {
        try #require(try await stage.redis("PTTL", KeySpace.tag(user) + ":box").int)
    }

    @Test func aBoxStaysWithItsSessionAndGoesAfterIt() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let user = try stage.user("alice")
            func send(timeToLive: Duration) async throws {
                _ = try await gateway.messages.sendToUser(UserMessage(to: user, line: "x", timeToLive: timeToLive))
            }
            // A record that was created by a message, with an expiry, loses its expiry at the login.
            try await send(timeToLive: .seconds(60))
            var left = try await timeToLive(stage, user)
            #expect((59_000...67_500).contains(left))
            let session = try await stage.login("alice", on: gateway)
            try await send(timeToLive: .seconds(60))
            #expect(try await timeToLive(stage, user) == -1)
            let fence = SessionFence(session: session.line.session, gateway: gateway.id)
            let version = try await gateway.read(user, in: fence).highest
            _ = try await gateway.send(
                CloseSession(user: user, session: session.line.session, reason: .leaveLogout))
            left = try await timeToLive(stage, user)
            #expect((590_000...600_000).contains(left))
            // The record must not expire before the mailbox.
            try await send(timeToLive: .seconds(3600))
            left = try await timeToLive(stage, user)
            #expect(left > 3_500_000)
            let again = try await stage.login("alice", on: gateway)
            let page = try await gateway.read(
                user, in: SessionFence(session: again.line.session, gateway: gateway.id))
            #expect(page.highest > version && page.entries.count == 3)
        }
    }
}

extension StageGateway {
    /// Reads a mailbox from its start.
    func read(_ user: UserKey, in fence: SessionFence) async throws -> MailboxPage {
        let result: Result<MailboxPage, SignalingError> = await withCheckedContinuation { continuation in
            connection.eventLoop.execute {
                self.messages.readMailbox(user, in: fence, MailboxSection(after: 0, limit: 100, fresh: false)) {
                    continuation.resume(returning: $0)
                }
            }
        }
        return try result.get()
    }
}
