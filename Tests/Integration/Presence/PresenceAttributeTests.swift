import BusProtocol
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Attributes of users, settings of apps, and service while PostgreSQL is down.
@Suite struct PresenceAttributeTests {
    private func attribute(_ name: String, _ value: String) throws -> Attribute {
        Attribute(name: try AttributeName(name), value: value)
    }

    @Test func attributesAreKeptAndTold() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let alice = try await stage.login("alice", on: gateway)
            let user = alice.line.user
            #expect(try await gateway.send(GetUserAttribute(user: user, name: try AttributeName("mood"))).value == "")
            _ = try await gateway.send(alice.setting(try attribute("mood", "good é\n")))
            _ = try await gateway.send(alice.setting(try attribute("a", "")))
            #expect(
                try await gateway.send(GetUserAttribute(user: user, name: try AttributeName("mood"))).value
                    == "good é\n")
            let list = try await gateway.send(ListUserAttributes(user: user)).attributes
            #expect(list == [try attribute("a", ""), try attribute("mood", "good é\n")])
            #expect(
                try await gateway.refusal(alice.setting(try attribute("_x", "1")))?.code
                    == .wrongParameter)
            let large = String(repeating: "x", count: 8097)
            #expect(
                try await gateway.refusal(alice.setting(try attribute("a", large)))?.code
                    == .largeParameter)
        }
    }

    @Test func concurrentChangesEndAsPostgresHasThem() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let alice = try await stage.login("alice", on: gateway)
            let user = alice.line.user
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        _ = try await gateway.send(
                            alice.setting(try attribute("n\(number % 7)", "\(number)")))
                    }
                }
                try await group.waitForAll()
            }
            let stored = try await AttributeStore(pool: stage.pool).userAttributes(user)
            #expect(try await gateway.send(ListUserAttributes(user: user)).attributes == stored.attributes)
            #expect(try await gateway.send(ListUserAttributes(user: user)).attributes.count == 7)
        }
    }

    @Test func theConnectionTimeoutReachesTheSession() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            #expect(try await stage.sessionField("alice", "timeout") == "120")
            let set = session.setting(try attribute("_conn_timeout", "30"))
            _ = try await gateway.send(set)
            #expect(try await stage.sessionField("alice", "timeout") == "30")
            let second = try await stage.login("alice", on: gateway)
            #expect(try await stage.sessionField("alice", "timeout") == "30")
            let bad = second.setting(try attribute("_conn_timeout", "long"))
            #expect(try await gateway.refusal(bad)?.code == .wrongParameter)
        }
    }

    @Test func knownUsersAndAppsNeedNoPostgres() async throws {
        try await ServicesStage.run(instances: 1, ownPostgres: true) { stage in
            let gateway = try await stage.gateway("g1")
            _ = try await AppStore(pool: stage.pool).create(id: stage.app, certificate: "c", tokenRequired: true)
            let settings = AppSettings(certificate: "c", tokenRequired: true)
            #expect(try await gateway.send(GetApp(app: stage.app)) == settings)
            #expect(try await gateway.refusal(GetApp(app: try AppID("other")))?.reason == .unknownApp)
            let known = try await stage.login("alice", on: gateway)
            _ = try await gateway.send(known.setting(try attribute("a", "1")))
            _ = try await gateway.send(ListUserAttributes(user: known.line.user))
            try await stage.postgres.stop()
            let again = try await stage.login("alice", on: gateway)
            #expect(again.uid == known.uid)
            #expect(
                try await gateway.send(GetUserAttribute(user: known.line.user, name: try AttributeName("a"))).value
                    == "1")
            #expect(try await gateway.send(GetApp(app: stage.app)) == settings)
            let set = again.setting(try attribute("a", "2"))
            #expect(try await gateway.refusal(set)?.reason == .unavailable)
            let unknown = Line(user: try stage.user("carol"), session: SessionID("s9"), secret: TestLine.secret)
            let open = OpenSession(gateway: gateway.id, line: unknown, device: "", push: false)
            #expect(try await gateway.refusal(open)?.reason == .unavailable)
            try await stage.postgres.start()
            try await waitUntil("PostgreSQL to be used again") { try await gateway.refusal(set)?.description }
            #expect(
                try await gateway.send(GetUserAttribute(user: known.line.user, name: try AttributeName("a"))).value
                    == "2")
            try await stage.expectRows("SELECT account AS line FROM online_users", ["alice"])
        }
    }
}
