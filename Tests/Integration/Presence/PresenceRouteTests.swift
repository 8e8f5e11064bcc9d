import BusProtocol
import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The routes by which the sessions of a gateway are found.
@Suite struct PresenceRouteTests {
    /// The gateways that have a route to the session. No other route may be in the user's bucket.
    private func holders(of session: StageSession, _ stage: ServicesStage) async throws -> [GatewayID] {
        let user = session.line.user
        let start = KeySpace.routes(GatewayID(""), bucket: Buckets.bucket(of: KeySpace.name(user)))
        let route = SessionRoute(user: user, session: session.line.session).text
        var holders: [GatewayID] = []
        for key in try await stage.redis("KEYS", start + "*").texts {
            #expect(try await stage.redis("SMEMBERS", key).texts == [route])
            holders.append(GatewayID(String(key.dropFirst(start.count))))
        }
        return holders
    }

    @Test func aSessionHasOneRouteAtItsGateway() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let session = try await stage.login("alice:{1}", on: one)
            let line = session.line
            #expect(try await holders(of: session, stage) == [one.id])
            // A detached session keeps its route: if the gateway dies now, it is found.
            _ = try await one.send(DetachSession(gateway: one.id, user: line.user, session: line.session))
            #expect(try await holders(of: session, stage) == [one.id])
            _ = try await two.send(ResumeSession(gateway: two.id, line: line))
            #expect(try await holders(of: session, stage) == [two.id])
            let wrong = Line(user: line.user, session: line.session, secret: TestLine.otherSecret)
            #expect(try await one.refusal(ResumeSession(gateway: one.id, line: wrong))?.reason == .badLine)
            #expect(try await holders(of: session, stage) == [two.id])
            _ = try await two.send(CloseSession(user: line.user, session: line.session, reason: .leaveLogout))
            #expect(try await holders(of: session, stage).isEmpty)
        }
    }

    @Test func aNewLoginTakesThePlaceOfTheRoute() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            _ = try await stage.login("alice", on: one)
            let newer = try await stage.login("alice", on: two)
            #expect(try await holders(of: newer, stage) == [two.id])
            let newest = try await stage.login("alice", on: two)
            #expect(try await holders(of: newest, stage) == [two.id])
        }
    }

    @Test func aSessionThatTimesOutHasNoRoute() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            _ = try await stage.redis("HSET", KeySpace.tag(session.line.user) + ":session", "timeout", "0")
            _ = try await gateway.send(
                DetachSession(gateway: gateway.id, user: session.line.user, session: session.line.session))
            try await waitUntil("the end of the session") {
                try await stage.sessionField("alice", "sid") == nil ? nil : "still there"
            }
            #expect(try await holders(of: session, stage).isEmpty)
        }
    }

    @Test func aReassertedSessionHasItsRouteAgain() async throws {
        try await ServicesStage.run { stage in
            let (one, two) = (try await stage.gateway("g1"), try await stage.gateway("g2"))
            let session = try await stage.login("alice", on: one)
            let route = KeySpace.routes(one.id, bucket: Buckets.bucket(of: KeySpace.name(session.line.user)))
            _ = try await stage.redis("DEL", route)
            _ = try await one.send(ReassertSessions(gateway: one.id, sessions: [session.held()]))
            #expect(try await holders(of: session, stage) == [one.id])
            _ = try await stage.redis("FLUSHALL")
            _ = try await one.send(ReassertSessions(gateway: one.id, sessions: [session.held()]))
            #expect(try await holders(of: session, stage) == [one.id])
            // The session has moved, and Redis has lost the move.
            var moved = session
            moved.hold.claim += 1_000_000_000
            _ = try await two.send(ReassertSessions(gateway: two.id, sessions: [moved.held()]))
            #expect(try await holders(of: session, stage) == [two.id])
            // The gateway that it has moved from is told so, and gets no route.
            let late = try await one.send(ReassertSessions(gateway: one.id, sessions: [session.held()]))
            #expect(late.lost == [.init(session: session.line.session, code: nil)])
            #expect(try await holders(of: session, stage) == [two.id])
        }
    }

    @Test func aRouteWithoutSessionGoesWhenTheGatewayReportsIt() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let user = try stage.user("nobody")
            let route = SessionRoute(user: user, session: SessionID("s-1"))
            let key = KeySpace.routes(gateway.id, bucket: Buckets.bucket(of: KeySpace.name(user)))
            _ = try await stage.redis("SADD", key, route.text)
            _ = try await gateway.send(DetachSession(gateway: gateway.id, user: user, session: route.session))
            #expect(try await stage.redis("EXISTS", key).int == 0)
        }
    }

    /// More routes than one page of the search and one round of presence's can deal with.
    @Test func allRoutesOfALostGatewayAreFound() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let accounts = (0..<20).map { "alice-\($0)" }
            for account in accounts { _ = try await stage.login(account, on: gateway) }
            var stale = [RedisCommand("SADD", .string(KeySpace.routes(gateway.id, bucket: 0)), "no route")]
            for number in 0..<4000 {
                let route = SessionRoute(user: try stage.user("nobody-\(number)"), session: SessionID("s-\(number)"))
                let bucket = Buckets.bucket(of: KeySpace.name(route.user))
                stale.append(
                    RedisCommand("SADD", .string(KeySpace.routes(gateway.id, bucket: bucket)), .string(route.text)))
            }
            for start in stride(from: 0, to: stale.count, by: 1000) {
                let some = Array(stale[start..<min(start + 1000, stale.count)])
                for result in await stage.connection.execute(some) { _ = try result.get() }
            }
            try await gateway.leases.leave(gateway.id)
            try await waitUntil("no route of the gateway") {
                let left = try await stage.redis("KEYS", "{*}r:\(gateway.id)").texts.count
                return left == 0 ? nil : "\(left) buckets"
            }
            for account in accounts { #expect(try await stage.sessionField(account, "state") == "detached") }
        }
    }

    /// Where an answer takes long, a round of presence comes only to the first buckets: the
    /// next one must go on from there.
    @Test func theLastBucketIsSearchedHoweverLongAnAnswerTakes() async throws {
        try await ServicesStage.run(lag: .milliseconds(40)) { stage in
            var account = "alice"
            while Buckets.bucket(of: KeySpace.name(try stage.user(account))) < Buckets.count - RouteScan.page {
                account += "-"
            }
            let gateway = try await stage.gateway("g1")
            _ = try await stage.login(account, on: gateway)
            try await gateway.leases.leave(gateway.id)
            try await waitUntil("the detachment") {
                try await stage.sessionField(account, "state") == "detached" ? nil : "online"
            }
            try await waitUntil("no route of the gateway") {
                let left = try await stage.redis("KEYS", "{*}r:\(gateway.id)").texts.count
                return left == 0 ? nil : "\(left) buckets"
            }
        }
    }
}
