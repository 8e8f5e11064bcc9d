import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Gateways that start, drain, die and reassert their sessions.
@Suite struct PresenceGatewayTests {
    @Test func aLostGatewaysSessionsAreDetached() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let stays = try await stage.login("alice", on: one)
            let moves = try await stage.login("bob", on: one)
            _ = try await two.send(ResumeSession(gateway: two.id, line: moves.line))
            _ = try await one.leases.heartbeat(one.id, .ofTest)
            let heartbeat = try await stage.lease(of: one.id).int64("heartbeat")
            try await one.id.expire(on: stage.connection)
            _ = try await stage.redis("ZADD", KeySpace.due(.presence), "0", "gateway \(one.id)")
            try await waitUntil("the detachment") {
                // No lease is judged before Redis has been up for the length of one, so the other gateway keeps
                // renewing its own.
                _ = try await two.leases.heartbeat(two.id, .ofTest)
                let state = try await stage.sessionField("alice", "state")
                return state == "detached" ? nil : "\(state ?? "none")"
            }
            #expect(try await stage.sessionField("bob", "state") == "online")
            try await waitUntil("the gateway to be forgotten") {
                try await stage.redis("EXISTS", KeySpace.lease(one.id)).int == 0 ? nil : "still known"
            }
            #expect(try await stage.redis("ZSCORE", KeySpace.gateways, one.id.rawValue).isNull)
            // Sessions count as detached from the gateway's last heartbeat, not from when its end was noticed.
            let detached = try #require(try await stage.sessionField("alice", "detached").flatMap { Int64($0) })
            #expect(detached >= heartbeat && detached < heartbeat + 5000)
            #expect(try await two.send(ResumeSession(gateway: two.id, line: stays.line)).uid == stays.uid)
            #expect(try await stage.sessionField("alice", "state") == "online")
            try await stage.expectRows(
                "SELECT account || ' ' || state || ' ' || (gateway = '\(two.id)') AS line FROM online_users ORDER BY 1",
                ["alice online true", "bob online true"])
        }
    }

    @Test func aLeavingGatewayDetachesAtOnce() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            _ = try await stage.login("alice", on: gateway)
            try await gateway.leases.leave(gateway.id)
            try await waitUntil("the detachment") {
                try await stage.sessionField("alice", "state") == "detached" ? nil : "online"
            }
        }
    }

    @Test func whatRedisLostIsRecordedAgain() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let room = try stage.channel("room")
            try await gateway.listen(to: room)
            let kept = try await stage.login("alice", on: gateway)
            let ended = try await stage.login("bob", on: gateway)
            _ = try await gateway.send(JoinChannel(actor: kept.actor, channel: room.name))
            let before = gateway.heard(in: room).last?.sequence ?? 0
            _ = try await stage.redis("FLUSHALL")
            let newer = try await stage.login("bob", on: gateway)
            let members = ReassertMembers(channel: room, members: [kept.member, ended.member])
            // A member whose session is not known yet is refused, and the gateway is told.
            #expect(try await gateway.send(members).unknown == [kept.line.session])
            let held = [kept.held(moveNumber: 1, channel: room.name), ended.held()]
            let answer = try await gateway.send(ReassertSessions(gateway: gateway.id, sessions: held))
            #expect(answer.lost == [.init(session: ended.line.session, code: .logoutKicked)])
            #expect(answer.held.map(\.session) == [kept.line.session])
            #expect(try await gateway.send(members).unknown.isEmpty)
            #expect(try await stage.sessionField("alice", "channel") == "room")
            let list = try await gateway.send(ListMembers(channel: room, limit: 10))
            #expect(list.members == [Member(account: kept.line.user.account, uid: kept.uid)])
            // Nothing was announced, and new events are numbered above those that clients have seen.
            #expect(gateway.heard(in: room).count == 1)
            _ = try await gateway.send(JoinChannel(actor: newer.actor, channel: room.name))
            try await waitUntil("the join") { gateway.heard(in: room).count == 2 ? nil : "not yet" }
            #expect(gateway.heard(in: room)[1].sequence > before)
        }
    }

    @Test func aSessionThatEndedIsNotRestored() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let over = try await stage.login("alice", on: one)
            _ = try await one.send(
                CloseSession(user: over.line.user, session: over.line.session, reason: .leaveLogout))
            let moved = try await stage.login("bob", on: one)
            _ = try await two.send(ResumeSession(gateway: two.id, line: moved.line))
            let held = [over, moved].map { $0.held() }
            let answer = try await one.send(ReassertSessions(gateway: one.id, sessions: held))
            #expect(
                answer.lost == [
                    .init(session: over.line.session, code: .logoutUser), .init(session: moved.line.session, code: nil),
                ])
            #expect(try await stage.sessionField("bob", "gateway") == two.id.rawValue)
        }
    }
}
