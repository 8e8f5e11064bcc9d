import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import InvitationLogic
import MessageStore
import NIOPosix
import PostgresStore
import RedisClient
import ServiceKit
import ServiceLifecycle
import SignalingProtocol
import TestKit
import Testing

@testable import InvitationServer

/// Calls while a master of a Redis Cluster is away that has nothing of theirs: only the log of calls for those who
/// follow the app's events.
@Suite(.serialized, .timeLimit(.minutes(3))) struct InvitationAwayMasterTests {
    /// An app whose log of calls is at the first master.
    private static func app() throws -> AppID {
        try AwayMasterTests.first(
            atMaster: 0, { try AppID("app\($0)") }, slot: { KeySlot.of(ChannelKeys(.calls, of: $0).tag) })
    }

    /// A user with nothing at the first master.
    private static func user(of app: AppID, _ name: String, atMaster master: Int) throws -> UserKey {
        try AwayMasterTests.first(
            atMaster: master, { UserKey(app: app, account: try Account("\(name)\($0)")) },
            slot: { KeySpace.slot(of: .user($0)) })
    }

    private static func driver(_ redis: RedisClient, _ followed: FollowedEvents) -> CallDriver {
        let (records, logger) = (CallRecordStore(redis: redis), ServicesStage.silent)
        return CallDriver(
            records: records, messages: MessageStore(connection: redis),
            timers: ServiceTimers(service: .invitation, connection: redis, logger: logger),
            phones: PhoneDispatch(redis: redis, logger: logger), lines: PhoneLines(redis: redis),
            ends: RecentEnds(redis: redis, records: records, logger: logger), followed: followed,
            durations: CallDurations(), logger: logger)
    }

    private static func client(of scene: RedisClusterScene) async throws -> RedisClient {
        let redis = try RedisClient(
            url: scene.servers.url, eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            libraries: [.calls, .messages, .leases, .timers, .streams], logger: ServicesStage.silent)
        redis.start()
        try await waitUntil("the cluster") { await redis.checkReadiness() == .ready ? nil : "not ready" }
        return redis
    }

    /// A call between two users in a channel, of which the first master has nothing.
    private struct Scene: Sendable {
        let channel: ChannelKey
        let caller: Actor
        let callee: Actor
        let tag: String

        init(_ app: AppID) throws {
            let users = [
                try InvitationAwayMasterTests.user(of: app, "ann", atMaster: 1),
                try InvitationAwayMasterTests.user(of: app, "bob", atMaster: 2),
            ]
            func tag(_ channel: ChannelKey) -> String {
                KeySpace.callTag(channel: channel, caller: users[0].account, callee: users[1].account)
            }
            channel = try AwayMasterTests.first(
                atMaster: 1, { ChannelKey(app: app, name: try ChannelName("room\($0)")) }, slot: { KeySlot.of(tag($0)) }
            )
            self.tag = tag(channel)
            caller = Actor(user: users[0], uid: 1, session: SessionID("s1"))
            callee = Actor(user: users[1], uid: 2, session: SessionID("s2"))
        }

        /// Invites, acknowledges and ends.
        func play(on driver: CallDriver) async throws {
            let request = try InvitationRequest(
                call: CallID("c1"), caller: caller, channel: channel.name, peer: callee.user.account.rawValue, extra: ""
            )
            let (caller, callee) = (caller, callee)
            try await driver.play(tag, CommandContext(id: CommandID("c1"))) { machine, now throws(SignalingError) in
                try machine.invite(request, callee: CalleePresence(online: true, uid: 2), now: now)
            }
            try await driver.play(tag, CommandContext(id: CommandID("c2"))) { machine, now throws(SignalingError) in
                try machine.acknowledge(by: callee, extra: "", now: now)
            }
            try await driver.play(tag, CommandContext(id: CommandID("c3"))) { machine, now throws(SignalingError) in
                try machine.end(by: caller, extra: "", now: now)
            }
        }
    }

    private static func states(_ redis: RedisClient, _ app: AppID) async throws -> [String] {
        let log = RedisCommand("XRANGE", key: ChannelKeys(.calls, of: app).tag + ":log", "-", "+")
        let entries = try await redis.execute(log).array ?? []
        return entries.compactMap { entry in
            let text = entry.array?.last?.array?.last?.string ?? ""
            return ["invited", "ringing", "accepted", "ended"].first { text.contains("\"state\":\"\($0)\"") }
        }
    }

    /// Nobody can know whether the calls are followed. They go on, and whoever follows is told when the master is back.
    @Test(arguments: [true, false]) func callsDoNotWaitForTheirLog(isFrozen: Bool) async throws {
        try await RedisClusterScene.run { scene in
            let redis = try await Self.client(of: scene)
            let app = try Self.app()
            let call = try Scene(app)
            let followed = FollowedEvents(redis: redis, logger: ServicesStage.silent)
            let group = ServiceGroup(services: [followed], logger: ServicesStage.silent)
            async let running: Void = group.run()
            _ = try await redis.execute(RedisCommand("SET", key: ChannelKeys(.calls, of: app).followed, "1"))

            let server = scene.servers.servers[0]
            if isFrozen {
                // Nobody has noticed yet that it does not answer.
                await server.freeze(true)
            } else {
                try await server.kill()
                try await waitUntil("the outage") { await redis.checkReadiness() == .ready ? "ready" : nil }
            }
            let start = ContinuousClock.now
            try await call.play(on: Self.driver(redis, followed))
            // Three changes, for each of which an answer is waited for 100 ms; a command waits for 2 s and longer.
            #expect(start.duration(to: .now) < .seconds(2) * patience)
            if isFrozen { await server.freeze(false) } else { try await server.start() }
            try await waitUntil("what was told", within: .seconds(30)) {
                let told = (try? await Self.states(redis, app)) ?? []
                return told == ["invited", "ringing", "ended"] ? nil : "\(told)"
            }
            await group.triggerGracefulShutdown()
            try await running
            await redis.close()
        }
    }

    @Test func whatWaitsIsBounded() async throws {
        // Never connected.
        let redis = try RedisClient(
            url: "redis://127.0.0.1:1", eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [],
            logger: ServicesStage.silent)
        let followed = FollowedEvents(redis: redis, logger: ServicesStage.silent)
        let party = CallParty(account: try Account("ann"))
        let channel = ChannelKey(app: try AppID("a"), name: try ChannelName("room"))
        let call = Call(
            id: CallID("c"), channel: channel, caller: party, callee: party, startedAt: RedisTime(milliseconds: 1))
        let entries = Array(repeating: CallLogEntry(call: call), count: 3000)
        for count in [3000, 6000, 9000, 10_000, 10_000] {
            await followed.tell(entries, isReachable: false)
            #expect(followed.count == count)
        }
    }
}
