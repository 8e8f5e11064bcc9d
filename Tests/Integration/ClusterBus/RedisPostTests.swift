import BusProtocol
import ClusterBus
import ClusterState
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Commands without a reply, and stream entries that cannot be handled.
@Suite(.timeLimit(.minutes(2))) struct RedisPostTests {
    private static let posts = KeySpace.posts(.channelState)

    private static func question(_ name: String = "room") throws -> CountMembers {
        CountMembers(channel: ChannelKey(app: try AppID("app"), name: try ChannelName(name)))
    }

    private static func post(_ scene: RedisScene, _ id: String) async throws {
        _ = try await scene.connection.execute(
            PostedCommand.command(on: .single, for: try question(id), id: CommandID(id)))
    }

    /// Claims entries of other consumers at every check, and sets an entry aside after two deliveries.
    private static var quick: CommandConsumer.Limits {
        var limits = CommandConsumer.Limits()
        limits.abandonedAfter = .milliseconds(1)
        limits.deliveries = 2
        return limits
    }

    /// Records the handled commands, and fails as `failing` says, by the channel's name and the number of attempts.
    private static func router(
        _ handled: Recording<String>, failing: @escaping @Sendable (String, Int) -> SignalingError?
    ) -> CommandRouter {
        var router = CommandRouter()
        router.on(CountMembers.self) { (command, _) throws(SignalingError) in
            let name = command.channel.name.rawValue
            handled.add(name)
            if let error = failing(name, handled.all.count { $0 == name }) { throw error }
            return MemberCount(count: 1)
        }
        return router
    }

    private static func consuming(
        _ scene: RedisScene, _ router: CommandRouter, connection: RedisClient? = nil,
        _ body: () async throws -> Void
    ) async throws {
        var consumer = CommandConsumer(
            service: .channelState, instance: "one", connection: connection ?? scene.connection, router: router,
            logger: RedisScene.logger)
        consumer.limits = quick
        let running = Task { [consumer] in try await consumer.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        running.cancel()
        try await running.value
        try result.get()
    }

    private static func expectEmpty(_ scene: RedisScene, _ stream: String = posts) async throws {
        try await waitUntil("an empty stream \(stream)") {
            let length = try await scene.connection.execute(RedisCommand("XLEN", .string(stream))).int
            return length == 0 ? nil : "\(length ?? -1) entries"
        }
    }

    /// The entries that were set aside, as the names of the streams they came from.
    private static func setAside(_ scene: RedisScene) async throws -> [String] {
        let kept = try await scene.connection.execute(
            RedisCommand("XRANGE", .string(KeySpace.setAside(.channelState)), "-", "+"))
        return (kept.array ?? []).compactMap { $0.array?.last?.array?[1].string }
    }

    @Test func postsWaitForTheirService() async throws {
        try await RedisScene.run { scene in
            try await Self.post(scene, "first")
            for number in 1...2000 { try await Self.post(scene, "\(number)") }
            let handled = Recording<String>()
            try await Self.consuming(scene, Self.router(handled) { _, _ in nil }) {
                try await Self.expectEmpty(scene)
            }
            #expect(handled.all.first == "first")
            #expect(handled.all.count == 2001)
        }
    }

    @Test func aFailedPostIsTriedUntilItIsDone() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            // More failures than an entry is allowed by its own fault; an unavailable store does not count.
            let router = Self.router(handled) { _, time in time < 5 ? .unavailable("postgres") : nil }
            try await Self.post(scene, "leave")
            try await Self.consuming(scene, router) { try await Self.expectEmpty(scene) }
            #expect(handled.all.count == 5)
            #expect(try await Self.setAside(scene) == [])
        }
    }

    @Test func aRefusedPostIsDone() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            let router = Self.router(handled) { _, _ in SignalingError(.messageOther, .notMember, "no") }
            try await Self.post(scene, "leave")
            try await Self.consuming(scene, router) { try await Self.expectEmpty(scene) }
            #expect(handled.all.count == 1)
        }
    }

    @Test func whatAlwaysFailsIsSetAside() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            let router = Self.router(handled) { name, _ in name == "poison" ? .unavailable("redis") : nil }
            try await Self.post(scene, "poison")
            try await Self.post(scene, "other")
            try await Self.consuming(scene, router) { try await Self.expectEmpty(scene) }
            #expect(handled.all.sorted() == ["other", "poison", "poison"])
            #expect(try await Self.setAside(scene) == [Self.posts])
        }
    }

    @Test(arguments: [KeySpace.posts(.channelState), KeySpace.commands(.channelState)])
    func whatEndsEachProcessIsSetAside(_ stream: String) async throws {
        try await RedisScene.run { scene in
            _ = try await scene.connection.execute(
                RedisCommand("XGROUP", "CREATE", .string(stream), "service", "0", "MKSTREAM"))
            // Commands to a service use its command stream, so the post is copied there.
            try await Self.post(scene, "poison")
            if stream != Self.posts {
                let posted = try await scene.connection.execute(RedisCommand("XRANGE", .string(Self.posts), "-", "+"))
                let text = try #require(posted.array?.first?.array?.last?.array?.last?.bytes)
                _ = try await scene.connection.execute(RedisCommand("XADD", .string(stream), "*", "c", .bytes(text)))
                _ = try await scene.connection.execute(RedisCommand("DEL", .string(Self.posts)))
            }
            // Two processes took the entry and died.
            _ = try await scene.connection.execute(
                RedisCommand("XREADGROUP", "GROUP", "service", "a", "STREAMS", .string(stream), ">"))
            let taken = try await scene.connection.execute(
                RedisCommand("XAUTOCLAIM", .string(stream), "service", "b", 0, "0-0"))
            #expect(taken.array?[1].array?.count == 1)
            let handled = Recording<String>()
            try await Self.consuming(scene, Self.router(handled) { _, _ in nil }) {
                try await Self.expectEmpty(scene, stream)
            }
            #expect(handled.all == [])
            #expect(try await Self.setAside(scene) == [stream])
        }
    }

    @Test func anAnswerThatIsTooLongIsRefused() async throws {
        try await RedisScene.run { scene in
            let account = try Account(String(repeating: "a", count: Limits.accountBytes))
            var router = CommandRouter()
            router.on(ListMembers.self) { (command, _) throws(SignalingError) in
                let members = Array(repeating: Member(account: account, uid: 1), count: command.limit)
                return MemberList(total: command.limit, members: members)
            }
            try await Self.consuming(scene, router) {
                let gateway = try await RedisGateway(scene)
                let channel = try Self.question().channel
                #expect(try await gateway.send(ListMembers(channel: channel, limit: 10_000)).get().total == 10_000)
                let long = await gateway.send(ListMembers(channel: channel, limit: 40_000))
                guard case .failure(let error) = long else { throw TestFailure("an answer of over 5 MB came") }
                #expect(error.reason == .replyTooLong)
                await gateway.subscriber.close()
            }
        }
    }

    @Test func whatCouldNotBeSentIsNotFinished() async throws {
        try await RedisScene.run { scene in
            let small = try await scene.otherConnection { $0.maxPendingBytes = 100_000 }
            let handled = Recording<String>()
            var router = CommandRouter()
            router.onFollowed(CountMembers.self) { (_, _) throws(SignalingError) in
                handled.add("")
                // At the first attempt the command that follows does not fit into the connection's buffer.
                let bytes = handled.all.count == 1 ? 200_000 : 1000
                let then = RedisCommand("SET", "{t}:follows", .bytes(Array(repeating: 1, count: bytes)))
                return FollowedReply(MemberCount(count: 1), then: [then])
            }
            try await Self.post(scene, "post")
            try await Self.consuming(scene, router, connection: small) { try await Self.expectEmpty(scene) }
            #expect(handled.all.count == 2)
            #expect(try await scene.connection.execute(RedisCommand("STRLEN", "{t}:follows")).int == 1000)
            await small.close()
        }
    }

    @Test func whatWaitedInAFrozenRedisHasNoEffectPastItsDeadline() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            try await Self.consuming(scene, Self.router(handled) { _, _ in nil }) {
                let gateway = try await RedisGateway(scene)
                _ = try await gateway.send(try Self.question("before")).get()
                await scene.server.freeze(true)
                let late = await gateway.send(try Self.question("late"), within: .milliseconds(300))
                #expect(late == .failure(.timeout()))
                await scene.server.freeze(false)
                _ = try await gateway.send(try Self.question("after")).get()
                try await Self.expectEmpty(scene, KeySpace.commands(.channelState))
                #expect(handled.all == ["before", "after"])
                await gateway.subscriber.close()
            }
        }
    }

    @Test func whoAsksTooLateIsToldAtOnce() async throws {
        try await RedisScene.run { scene in
            let gateway = try await RedisGateway(scene)
            #expect(await gateway.send(try Self.question(), within: .zero) == .failure(.timeout()))
            #expect(
                try await scene.connection.execute(RedisCommand("EXISTS", .string(KeySpace.commands(.channelState))))
                    .int == 0)
            await gateway.subscriber.close()
        }
    }
}
