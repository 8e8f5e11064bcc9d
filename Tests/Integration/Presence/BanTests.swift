import BusProtocol
import ClusterState
import PostgresStore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

@testable import PresenceServer

/// Bans hold, whatever Redis has lost and in whatever order it learns of them.
@Suite struct BanTests {
    private static let year: Int64 = 4_000_000_000

    private func isRefused(_ account: String, _ stage: ServicesStage, _ gateway: StageGateway) async throws -> Bool {
        do {
            _ = try await stage.login(account, on: gateway)
            return false
        } catch let error as SignalingError {
            #expect(error.code == .loginRejected && error.reason == .banned)
            return true
        }
    }

    @Test func aBanEndsTheSessionAndOutlivesRedis() async throws {
        try await ServicesStage.run { stage in
            try await AppStore(pool: stage.pool).create(id: stage.app, certificate: "", tokenRequired: false)
            let gateway = try await stage.gateway("g1")
            let session = try await stage.login("alice", on: gateway)
            let (user, box) = (session.line.user, KeySpace.tag(session.line.user) + ":box")
            let ban = try await gateway.send(BanUser(user: user, until: Self.year, reason: "why"))
            #expect(ban.until == Self.year && ban.reason == "why")
            let kick = GatewayEvent.kicked(session.line.session, .logoutOther)
            try await waitUntil("the kick") { gateway.events.contains(kick) ? nil : "\(gateway.events)" }
            #expect(try await isRefused("alice", stage, gateway))
            #expect(try await gateway.send(GetBan(user: user)) == ban)

            // Redis has lost the ban only, as in a failover: the session that was opened since is ended.
            _ = try await stage.redis("HDEL", box, "ban")
            let slipped = try await stage.login("alice", on: gateway)
            let check = BanCheck(
                store: BanStore(pool: stage.pool), functions: PresenceFunctions(redis: stage.connection))
            try await check.round {}
            let end = GatewayEvent.kicked(slipped.line.session, .logoutOther)
            try await waitUntil("the end") { gateway.events.contains(end) ? nil : "\(gateway.events)" }
            #expect(try await isRefused("alice", stage, gateway))
            _ = try await stage.redis("FLUSHALL")
            #expect(try await isRefused("alice", stage, gateway))

            // Nothing is written for a user whom Redis does not know.
            _ = try await stage.redis("DEL", box)
            try await check.round {}
            #expect(try await stage.redis("EXISTS", box).int == 0)

            _ = try await gateway.send(LiftBan(user: user))
            _ = try await stage.login("alice", on: gateway)
            await #expect(throws: SignalingError.self) { try await gateway.send(GetBan(user: user)) }
        }
    }

    @Test func theEndOfABanOutlivesRedis() async throws {
        try await ServicesStage.run { stage in
            try await AppStore(pool: stage.pool).create(id: stage.app, certificate: "", tokenRequired: false)
            let gateway = try await stage.gateway("g1")
            let user = try await stage.login("alice", on: gateway).line.user
            _ = try await gateway.send(BanUser(user: user, until: Self.year, reason: ""))
            let box = KeySpace.tag(user) + ":box"
            let lost = try #require(try await stage.redis("HGET", box, "ban").string)
            _ = try await gateway.send(LiftBan(user: user))
            // As after a failover to a replica that had the ban but not its end.
            _ = try await stage.redis("HSET", box, "ban", lost)
            #expect(try await isRefused("alice", stage, gateway))
            let check = BanCheck(
                store: BanStore(pool: stage.pool), functions: PresenceFunctions(redis: stage.connection))
            try await check.round {}
            _ = try await stage.login("alice", on: gateway)
        }
    }

    @Test func theLatestVersionCounts() async throws {
        try await ServicesStage.run { stage in
            let gateway = try await stage.gateway("g1")
            let tag = KeySpace.tag(try stage.user("bob"))
            func note(_ until: Int64, _ version: Int64) async throws -> Int64? {
                try await stage.connection.execute(
                    .function("user_ban", tag: tag, .int64(until), .int64(version))
                ).int
            }
            #expect(try await note(Self.year * 1000, 20) == 1)
            // A box without a session expires, so that bans of users who never come cost nothing for ever.
            #expect(try await stage.redis("PTTL", tag + ":box").int ?? -1 > 0)
            #expect(try await note(0, 19) == 0)
            #expect(try await isRefused("bob", stage, gateway))
            #expect(try await note(0, 21) == 1)
            #expect(try await note(Self.year * 1000, 20) == 0)
            _ = try await stage.login("bob", on: gateway)
            #expect(try await stage.redis("PTTL", tag + ":box").int == -1)
            // The mailbox of a user with a session stays.
            #expect(try await note(0, 22) == 1)
            #expect(try await stage.redis("PTTL", tag + ":box").int == -1)
        }
    }

    @Test func bansInTheDatabase() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let (store, app) = (BanStore(pool: pool), try AppID("a"))
        let users = try ["x", "y", "z"].map { UserKey(app: app, account: try Account($0)) }
        #expect(try await store.set(users[0], until: Self.year, reason: "") == nil)
        try await AppStore(pool: pool).create(id: app, certificate: "", tokenRequired: false)
        let first = try #require(try await store.set(users[0], until: Self.year, reason: "one"))
        let second = try #require(try await store.set(users[0], until: Self.year + 1, reason: "two"))
        #expect(second.version > first.version && second.ban.reason == "two")
        _ = try await store.set(users[1], until: Self.year, reason: "")
        _ = try await store.set(users[2], until: 1, reason: "over")
        #expect(try await store.find(users[2]) == nil)
        #expect(try await store.recent(after: [(app, "")], limit: 1) == [second])
        #expect(try await store.recent(after: [(app, "x")], limit: 5).map(\.holds) == [true, false])
        let logins = try await UserStore(pool: pool).logins(of: users)
        #expect(logins.map(\.bannedUntil) == [Self.year + 1, Self.year, nil])
        #expect(try await store.prune(limit: 5) == 1)
        let lifted = try await store.lift(users[0])
        #expect(lifted.version > second.version)
        #expect(try await store.find(users[0]) == nil)
        #expect(try await store.recent(after: [(app, "")], limit: 1).map(\.version) == [lifted.version])
        #expect(try await store.recent(after: [(app, "")], limit: 1).map(\.holds) == [false])
        // A user who was not banned gets a row too, which stays for a day.
        let absent = try await store.lift(users[2])
        #expect(absent.version > lifted.version && !absent.holds && absent.tokensUntil == 0)
        #expect(try await store.prune(limit: 5) == 0)
        #expect(try await store.recent(after: [(app, "y")], limit: 5) == [absent])
        #expect(try await store.find(users[2]) == nil)
        #expect(try await UserStore(pool: pool).logins(of: [users[0]]).map(\.bannedUntil) == [nil])
        // The bans of an app go with it.
        #expect(try await AppStore(pool: pool).remove(app))
        #expect(try await store.recent(after: [(app, "")], limit: 5).isEmpty)
    }

    @Test func revocationsAreKeptWithBans() async throws {
        let pool = try await PostgresServer.shared.migratedPool(connections: 1)
        let (store, app) = (BanStore(pool: pool), try AppID("a"))
        let users = try ["x", "y", "z"].map { UserKey(app: app, account: try Account($0)) }
        #expect(try await store.revokeTokens(of: users[0], until: 50) == nil)
        try await AppStore(pool: pool).create(id: app, certificate: "", tokenRequired: false)
        let first = try #require(try await store.revokeTokens(of: users[0], until: Self.year))
        #expect(first.tokensUntil == Self.year && first.ban.until == 0 && !first.holds)
        #expect(try await store.find(users[0]) == nil)
        let again = try #require(try await store.revokeTokens(of: users[0], until: 5))
        #expect(again.tokensUntil == Self.year && again.version > first.version)
        let ban = try #require(try await store.set(users[0], until: Self.year + 1, reason: ""))
        #expect(ban.tokensUntil == Self.year && ban.version > again.version && ban.holds)
        #expect(try await store.revokeTokens(of: users[0], until: 6)?.ban == ban.ban)
        let lifted = try await store.lift(users[0])
        #expect(lifted.tokensUntil == Self.year && !lifted.holds)
        #expect(try await store.lift(users[1]).tokensUntil == 0)
        #expect(try await store.tokensUntil(of: users[0]) == Self.year)
        #expect(try await store.tokensUntil(of: users[1]) == 0)
        let logins = try await UserStore(pool: pool).logins(of: Array(users[...1]))
        #expect(logins.map(\.bannedUntil) == [nil, nil])
        #expect(logins.map { $0.revocation?.until } == [Self.year, nil])
        #expect(logins[0].revocation?.version == lifted.version)
        // What has no effect any more goes.
        _ = try await store.revokeTokens(of: users[2], until: 5)
        #expect(try await store.prune(limit: 5) == 1)
        #expect(try await store.recent(after: [(app, "")], limit: 5).map(\.user) == Array(users[...1]))
    }
}
