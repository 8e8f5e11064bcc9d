import BusProtocol
import ClusterBus
import ClusterState
import MessageStore
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import PresenceServer

/// Gateways report sessions that had lost their connections when Redis lost its data.
@Suite struct DetachedReassertionTests {
    @Test func aDetachedSessionThatRedisLostCanBeResumed() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            _ = try await gateway.send(alice.setting(Attribute(name: try AttributeName("_conn_timeout"), value: "60")))
            _ = try await stage.redis("FLUSHALL")
            let lostAt = try await stage.connection.time() + .seconds(-5)
            let detached = DetachedSession(alice.held(moveNumber: 1, channel: room.name), lostAt: lostAt)
            // A member whose session is not known yet is refused.
            let members = ReassertMembers(channel: room, members: [alice.member])
            #expect(try await gateway.send(members).unknown == [alice.line.session])
            let answer = try await gateway.send(ReassertDetachedSessions(gateway: gateway.id, sessions: [detached]))
            #expect(answer == DetachedSessionsReasserted(detached: [alice.line.session], gone: []))
            #expect(try await stage.sessionField("alice", "state") == "detached")
            #expect(try await stage.sessionField("alice", "detached") == "\(lostAt)")
            #expect(try await stage.sessionField("alice", "timeout") == "60", "it was read from PostgreSQL")
            #expect(try await stage.sessionField("alice", "address") == StageSession.address)
            #expect(try await gateway.send(QueryUserStatus(user: alice.line.user)).online)
            #expect(try await gateway.send(members).unknown.isEmpty)
            #expect(try await gateway.send(CountMembers(channel: room)).count == 1)
            #expect(gateway.heard(in: room).count == 1, "nobody is told")
            let two = try await stage.gateway("g2")
            let resumed = try await two.send(ResumeSession(gateway: two.id, line: alice.line))
            #expect(resumed.channel == room.name && resumed.uid == alice.uid)
            #expect(resumed.hold.claim > alice.hold.claim)
            try await stage.expectRows("SELECT account || ' ' || state AS line FROM online_users", ["alice online"])
        }
    }

    @Test func aDetachedSessionThatNobodyResumesEndsWithItsLeave() async throws {
        try await ServicesStage.run { stage in
            let (gateway, room, alice) = try await stage.roomWithAlice()
            _ = try await gateway.send(alice.setting(Attribute(name: try AttributeName("_conn_timeout"), value: "20")))
            _ = try await stage.redis("FLUSHALL")
            // Five seconds before its end; so long it has been up itself, too.
            let lostAt = try await stage.connection.time() + .seconds(-15)
            let detached = DetachedSession(alice.held(moveNumber: 1, channel: room.name), lostAt: lostAt)
            _ = try await gateway.send(ReassertDetachedSessions(gateway: gateway.id, sessions: [detached]))
            _ = try await gateway.send(ReassertMembers(channel: room, members: [alice.member]))
            try await waitUntil("the leave is told", within: .seconds(40)) {
                let heard = gateway.heard(in: room).map(\.summary)
                return heard == ["alice joined", "alice left"] ? nil : "\(heard)"
            }
            #expect(try await stage.connection.time() >= lostAt + .seconds(20))
            #expect(try await gateway.send(QueryUserStatus(user: alice.line.user)).online == false)
            #expect(try await gateway.send(CountMembers(channel: room)).count == 0)
        }
    }

    /// By which apps' servers may recall what comes while nobody holds the session.
    @Test func theMailboxIsNotedWhenTheConnectionIsLost() async throws {
        try await ServicesStage.run { stage in
            let (gateway, _, alice) = try await stage.roomWithAlice()
            let box = KeySpace.tag(alice.line.user) + ":box"
            func held() async throws -> [String] {
                let values = try await stage.redis("HMGET", box, "held", "pver").array?.map { $0.string ?? "" } ?? []
                #expect(values[0].hasSuffix(" " + values[1]), "it belongs to the last change")
                return values[0].split(separator: " ").map(String.init)
            }
            func detach() async throws {
                _ = try await gateway.send(
                    DetachSession(gateway: gateway.id, user: alice.line.user, session: alice.line.session))
            }
            _ = try await stage.redis("HSET", box, "ver", "700")
            try await detach()
            #expect(try await held().first == "700")
            let first = try await held()[1]
            // Told again, by its gateway and by one that finds the gateway lost: the connection was lost before.
            _ = try await stage.redis("HSET", box, "ver", "800")
            try await detach()
            #expect(try await held() == ["700", first])
            _ = try await stage.connection.execute(
                .function(
                    "session_detach", tag: KeySpace.tag(alice.line.user), "lost", 0, .string(gateway.id.rawValue),
                    .string(alice.line.session.rawValue), 1, 0))
            #expect(try await held().first == "700")
            #expect(try await held()[1] != first)
            _ = try await gateway.send(ResumeSession(gateway: gateway.id, line: alice.line))
            try await detach()
            #expect(try await held().first == "800")
        }
    }

    /// As after a failover, in which nothing was lost.
    @Test func whatRedisHasIsNotChanged() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            var sessions: [StageSession] = []
            for account in ["detached", "attached", "resumed", "replaced", "over"] {
                sessions.append(try await stage.login(account, on: one))
            }
            for session in [sessions[0], sessions[2]] {
                _ = try await one.send(
                    DetachSession(gateway: one.id, user: session.line.user, session: session.line.session))
            }
            _ = try await two.send(ResumeSession(gateway: two.id, line: sessions[2].line))
            let newer = try await stage.login("replaced", on: two)
            _ = try await one.send(
                CloseSession(user: sessions[4].line.user, session: sessions[4].line.session, reason: .leaveLogout))
            let before = try await stage.records(of: sessions)
            let lostAt = try await stage.connection.time() + .seconds(-1)
            let told = sessions.map { DetachedSession($0.held(), lostAt: lostAt) }
            let answer = try await one.send(ReassertDetachedSessions(gateway: one.id, sessions: told))
            #expect(answer.detached == [sessions[0].line.session])
            #expect(answer.gone == sessions[2...].map(\.line.session))
            #expect(try await stage.records(of: sessions) == before)
            #expect(try await stage.sessionField("replaced", "sid") == newer.line.session.rawValue)
            #expect(try await stage.sessionField("over", "sid") == nil)
        }
    }

    @Test func aGatewayThatHoldsTheSessionWinsAgainstTheOneThatLostIt() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let room = try stage.channel("room")
            let session = try await stage.login("alice", on: one)
            var moved = session
            moved.hold = try await two.send(ResumeSession(gateway: two.id, line: session.line)).hold
            _ = try await stage.redis("FLUSHALL")
            let lostAt = try await stage.connection.time() + .seconds(-5)
            // The gateway that missed the move reports first.
            let detached = DetachedSession(session.held(), lostAt: lostAt)
            let lost = ReassertDetachedSessions(gateway: one.id, sessions: [detached])
            #expect(try await one.send(lost).detached == [session.line.session])
            let held = ReassertSessions(gateway: two.id, sessions: [moved.held(moveNumber: 1, channel: room.name)])
            #expect(try await two.send(held).held.map(\.session) == [session.line.session])
            for (field, value) in [("state", "online"), ("gateway", two.id.rawValue), ("channel", "room")] {
                #expect(try await stage.sessionField("alice", field) == value)
            }
            #expect(try await stage.sessionField("alice", "detached") == nil)
            // And when it reports again.
            #expect(try await one.send(lost).gone == [session.line.session])
            #expect(try await stage.sessionField("alice", "state") == "online")
        }
    }

    @Test func aBannedUsersSessionDoesNotComeBack() async throws {
        try await ServicesStage.run { stage in
            try await AppStore(pool: stage.pool).create(id: stage.app, certificate: "", tokenRequired: false)
            let gateway = try await stage.gateway("g1")
            let alice = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(BanUser(user: alice.line.user, until: 4_102_444_800, reason: "test"))
            _ = try await stage.redis("FLUSHALL")
            let detached = DetachedSession(alice.held(), lostAt: try await stage.connection.time())
            let answer = try await gateway.send(ReassertDetachedSessions(gateway: gateway.id, sessions: [detached]))
            #expect(answer == DetachedSessionsReasserted(detached: [], gone: [alice.line.session]))
            #expect(try await stage.sessionField("alice", "sid") == nil)
        }
    }
}

extension ServicesStage {
    /// The records of the sessions' users.
    fileprivate nonisolated func records(of sessions: [StageSession]) async throws -> [[String: String]] {
        var records: [[String: String]] = []
        for session in sessions {
            let flat = try await redis("HGETALL", KeySpace.tag(session.line.user) + ":session").texts
            let pairs = stride(from: 0, to: flat.count, by: 2).map { (flat[$0], flat[$0 + 1]) }
            records.append(Dictionary(uniqueKeysWithValues: pairs))
        }
        return records
    }
}
