import BusProtocol
import ClusterState
import Logging
import PostgresStore
import SignalingProtocol
import TestKit
import Testing

/// A primary with a standby, whose URL names both: what remains when the primary is
/// killed, falls silent, or hands over.
@Suite struct PostgresFailoverTests {
    /// How long after a promotion writes must be taken again.
    private static let bound = Duration.seconds(5) * patience

    private struct Pair {
        let primary: PostgresServer
        let standby: PostgresServer
        /// The database on both servers, the primary first.
        let url: String

        func pool(connections: Int = 1) throws -> PostgresPool {
            PostgresPool(
                configuration: try PostgresConfiguration(url: url), connections: connections,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
    }

    private static func withPair(_ test: (Pair) async throws -> Void) async throws {
        let primary = try await PostgresServer()
        let url = try await primary.createDatabase()
        let standby = try await PostgresServer(copying: primary)
        let hosts = "127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)"
        let pair = Pair(
            primary: primary, standby: standby,
            url: url.replacing("127.0.0.1:\(primary.port)", with: hosts) + "?target_session_attrs=read-write")
        let result: Result<Void, any Error>
        do {
            let pool = try pair.pool()
            _ = try await Migrations(pool: pool, level: ClusterLevel.current).apply()
            await pool.close()
            result = .success(try await test(pair))
        } catch {
            result = .failure(error)
        }
        try await standby.remove()
        try await primary.remove()
        try result.get()
    }

    /// Waits until a pool takes writes.
    /// - Returns: how long that took.
    private static func untilWritable(_ pool: PostgresPool) async throws -> Duration {
        let started = ContinuousClock.now
        try await waitUntil("writes to be taken again", within: .seconds(5)) {
            do throws(PostgresError) { try await write(pool) } catch { return error.description }
            return nil
        }
        return ContinuousClock.now - started
    }

    private static func write(_ pool: PostgresPool) async throws(PostgresError) {
        try await pool.query("INSERT INTO applied_commands (command, version) VALUES (gen_random_uuid()::text, 1)")
    }

    private static func port(_ pool: PostgresPool) async throws -> Int64? {
        try await pool.query("SELECT inet_server_port() AS port").first?.int64("port")
    }

    /// What writers were told, to be compared with what the next primary has.
    private actor Ledger {
        private let pool: PostgresPool
        private let owner: UserKey
        private(set) var uids: [UserKey: UInt32] = [:]
        private(set) var versions: [Int64] = []
        private var count = 0

        init(_ pool: PostgresPool) throws {
            self.pool = pool
            owner = UserKey(app: try AppID("app"), account: try Account("owner"))
        }

        /// Logs a new user in, and changes an attribute of the same owner as always.
        func write() async throws {
            count += 1
            let number = count
            let user = UserKey(app: owner.app, account: try Account("user\(number)"))
            let login = try await UserStore(pool: pool).logins(of: [user])[0]
            uids[user] = login.uid
            let attribute = Attribute(name: try AttributeName("a"), value: "\(number)")
            let change = UserAttributeChange(command: CommandID("c\(number)"), user: owner, change: .update(attribute))
            let new = try await AttributeStore(pool: pool).changeUserAttributes([change])
            versions += new
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func aKilledPrimaryIsReplacedAndNoNumberIsGivenTwice() async throws {
        try await Self.withPair { pair in
            try await pair.primary.set(
                "synchronous_standby_names", to: "ANY 1 (\(PostgresServer.standbyName))")
            let pool = try pair.pool(connections: 4)
            let ledger = try Ledger(pool)
            for _ in 0..<20 { try await ledger.write() }
            // What the standby does not confirm is acknowledged to nobody.
            try pair.standby.freeze()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask { _ = await #expect(throws: PostgresError.self) { try await ledger.write() } }
                }
                try await letPass(.milliseconds(300), "the writes must have reached the primary when it is killed")
                try await pair.primary.kill()
                try await group.waitForAll()
            }
            try pair.standby.thaw()
            try await pair.standby.promote()
            #expect(try await Self.untilWritable(pool) < Self.bound)
            for _ in 0..<10 { try await ledger.write() }
            let (uids, versions) = (await ledger.uids, await ledger.versions)
            #expect(uids.count == 30 && Set(uids.values).count == 30)
            #expect(versions.count == 30 && zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
            let users = Array(uids.keys)
            #expect(try await UserStore(pool: pool).numbers(of: users) == users.compactMap { uids[$0] })
            #expect(try await Self.port(pool) == Int64(pair.standby.port))
            await pool.close()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func aSilentPrimaryIsPassedByAfterASecond() async throws {
        try await Self.withPair { pair in
            let pool = try pair.pool()
            try await pool.ping()
            try pair.primary.freeze()
            let silent = await #expect(throws: PostgresError.self) {
                try await pool.query("SELECT 1", within: .seconds(1))
            }
            #expect(silent?.kind == .timeout)
            try await pair.standby.promote()
            #expect(try await Self.untilWritable(pool) < Self.bound)
            await pool.close()
            // A process that starts now tries the silent host first. Its first query already finds the other one.
            let later = try pair.pool()
            let started = ContinuousClock.now
            #expect(try await Self.port(later) == Int64(pair.standby.port))
            let time = ContinuousClock.now - started
            #expect(time >= .seconds(1) && time < Duration.milliseconds(2800) * patience)
            await later.close()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func aPrimaryThatNoLongerTakesWritesIsLeft() async throws {
        try await Self.withPair { pair in
            let pool = try pair.pool()
            try await Self.write(pool)
            try await pair.primary.set("default_transaction_read_only", to: "on")
            var refusal: PostgresError?
            try await waitUntil("the primary to refuse writes") {
                do throws(PostgresError) { try await Self.write(pool) } catch {
                    refusal = error
                    return nil
                }
                return "a write was taken"
            }
            #expect(refusal?.code == "25006" && refusal?.signaling.reason == .unavailable)
            // The connection has ended, and there is none to a server that takes no writes.
            let nobody = await #expect(throws: PostgresError.self) { try await pool.ping() }
            #expect(nobody?.kind == .closed)
            try await pair.primary.stop()
            try await pair.standby.promote()
            #expect(try await Self.untilWritable(pool) < Self.bound)
            await pool.close()
            // The old primary is a standby now, although the URL names it first.
            try await pair.primary.start(as: .standby(of: pair.standby))
            let later = try pair.pool()
            #expect(try await Self.port(later) == Int64(pair.standby.port))
            try await Self.write(later)
            await later.close()
        }
    }

    /// `heliographctl doctor` asks each server of the URL, whatever it is.
    @Test(.timeLimit(.minutes(1)))
    func eachServerIsInspected() async throws {
        try await Self.withPair { pair in
            let inspector = PostgresInspector(
                try PostgresConfiguration(url: pair.url),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { 0 })
            try await pair.primary.set("synchronous_standby_names", to: "ANY 1 (\(PostgresServer.standbyName))")
            try await waitUntil("the pair to be well") {
                let found = try await inspector.inspect()
                return found.wrong + found.advice == [] ? nil : "\(found)"
            }
            try await pair.standby.promote()
            let (first, second) = ("127.0.0.1:\(pair.primary.port)", "127.0.0.1:\(pair.standby.port)")
            let both =
                "\(first) and \(second) are primaries: stop the one that was replaced, and let it follow the other"
            let waits =
                "waits for a standby at each commit (synchronous_standby_names), and none is connected: start one, or "
                + "empty the setting"
            try await waitUntil("two primaries to be found") {
                let found = try await inspector.inspect()
                return found.wrong.contains(both) && found.wrong.contains("\(first) \(waits)") ? nil : "\(found)"
            }
            try await pair.primary.kill()
            let found = try await inspector.inspect()
            #expect(found.wrong.count == 2 && found.wrong[0].hasPrefix("\(first) does not answer: "))
            #expect(found.wrong.last == "no standby follows \(second): start it, or make it anew with pg_basebackup")
        }
    }

    /// Waits until a commit waits for a standby.
    private static func waitUntilCommitsWait(_ configuration: PostgresConfiguration) async throws {
        try await waitUntil("commits to wait for the standby") {
            let other = PostgresPool(configuration: configuration, connections: 1, logger: Logger(label: "test"))
            var outcome: String? = "a commit did not wait"
            do throws(PostgresError) {
                try await other.query("CREATE TABLE IF NOT EXISTS waits (x int)", within: .milliseconds(200))
                try await other.query("INSERT INTO waits VALUES (1)", within: .milliseconds(200))
            } catch { outcome = error.kind == .timeout ? nil : error.description }
            await other.close()
            return outcome
        }
    }

    /// What a failover loses of the mirrors is corrected; what it loses of attributes is lost.
    @Test(.timeLimit(.minutes(1)))
    func mirrorsDoNotWaitForAnAbsentStandby() async throws {
        let server = try await PostgresServer()
        let pool = try await server.migratedPool(connections: 1)
        try await server.set("synchronous_standby_names", to: "ANY 1 (absent)")
        try await Self.waitUntilCommitsWait(pool.configuration)
        let mirror = MirrorStore(pool: pool)
        let user = UserKey(app: try AppID("app"), account: try Account("user"))
        let session = PresenceMirrorRow(
            of: Actor(user: user, uid: 7, session: SessionID("s")), version: 1, gateway: GatewayID("g"), device: "d",
            since: RedisTime(milliseconds: 1))
        let channel = ChannelKey(app: user.app, name: try ChannelName("room"))
        var member = MemberMirrorRow(
            of: Member(account: user.account, uid: 7), in: channel, version: 1, present: true,
            joinedAt: RedisTime(milliseconds: 1))
        let started = ContinuousClock.now
        try await mirror.sessions([session])
        try await mirror.members([member])
        (member.version, member.present) = (2, false)
        try await mirror.members([member])
        try await pool.query("SET synchronous_commit = local")
        try await pool.query("UPDATE channel_members SET updated_at = now() - interval '2 hours'")
        try await pool.query("RESET synchronous_commit")
        #expect(try await mirror.prune() == 1)
        #expect(try await pool.query("SELECT FROM online_users").count == 1)
        #expect(ContinuousClock.now - started < Duration.milliseconds(500) * patience)
        let change = UserAttributeChange(
            command: CommandID("c"), user: user,
            change: .update(Attribute(name: try AttributeName("a"), value: "1")))
        let waiting = await #expect(throws: PostgresError.self) {
            try await AttributeStore(pool: pool).changeUserAttributes([change])
        }
        #expect(waiting?.kind == .timeout)
        await pool.close()
        try await server.remove()
    }
}
