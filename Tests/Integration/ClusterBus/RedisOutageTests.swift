import BusProtocol
import ClusterBus
import ClusterState
import Logging
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// Two consumers and a gateway that sends 200 commands a second, while parts of the system die.
@Suite(.timeLimit(.minutes(2))) struct RedisOutageTests {
    /// A function that counts each command once, by its id.
    private static let library = RedisFunctionLibrary(
        name: "test_once",
        source: Array(
            """
            #!lua name=test_once
            redis.register_function('test_once', function(keys, args)
                if redis.call('SET', keys[1] .. ':done:' .. args[1], 1, 'NX') then
                    return redis.call('INCR', keys[1] .. ':count')
                end
                return redis.call('GET', keys[1] .. ':count') + 0
            end)
            """.utf8))

    private static func router(_ connection: RedisClient) -> CommandRouter {
        var router = CommandRouter()
        router.on(CountMembers.self) { (_, context) throws(SignalingError) in
            do throws(RedisError) {
                let reply = try await connection.execute(
                    .function("test_once", tag: "{t}", .string(context.id.rawValue)))
                return MemberCount(count: Int(reply.int ?? 0))
            } catch {
                throw error.signaling
            }
        }
        return router
    }

    /// Runs a consumer, with a connection of its own, as a separate process would have one.
    private static func consumer(_ name: String, _ scene: RedisScene) throws -> Task<Void, any Error> {
        let connection = RedisClient(
            configuration: try scene.server.configuration, eventLoop: scene.eventLoop, libraries: [library],
            logger: RedisScene.logger)
        connection.start()
        let consumer = CommandConsumer(
            service: .channelState, instance: name, connection: connection, router: router(connection),
            logger: RedisScene.logger)
        return Task {
            try await consumer.run()
            await connection.close()
        }
    }

    private static func run(
        appendOnly: Bool, commands: Int, _ disturb: (RedisScene, [Task<Void, any Error>]) async throws -> Void
    ) async throws -> (answered: Int, timedOut: Int, others: [SignalingError], counted: Int64) {
        var outcome = (answered: 0, timedOut: 0, others: [SignalingError](), counted: Int64(0))
        try await RedisScene.run(appendOnly: appendOnly, libraries: [library]) { scene in
            let gateway = try await RedisGateway(scene)
            let consumers = try ["one", "two"].map { try consumer($0, scene) }
            let question = CountMembers(channel: ChannelKey(app: try AppID("app"), name: try ChannelName("room")))
            async let results = withTaskGroup(of: Result<MemberCount, SignalingError>.self) { group in
                for _ in 0..<commands {
                    group.addTask { await gateway.send(question) }
                    try? await letPass(.milliseconds(5), "the rate of the questions")
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try await disturb(scene, consumers)
            for result in await results {
                switch result {
                case .success: outcome.answered += 1
                case .failure(let error) where error == .timeout(): outcome.timedOut += 1
                case .failure(let error): outcome.others.append(error)
                }
            }
            outcome.counted = try await scene.connection.execute(RedisCommand("GET", "{t}:count")).int ?? 0
            for consumer in consumers { consumer.cancel() }
            for consumer in consumers { try await consumer.value }
            await gateway.subscriber.close()
        }
        return outcome
    }

    private static func waitForCount(_ scene: RedisScene, _ count: Int64) async throws {
        try await waitUntil("\(count) commands in effect") {
            let counted = try await scene.connection.execute(RedisCommand("GET", "{t}:count")).int ?? 0
            return counted >= count ? nil : "\(counted)"
        }
    }

    @Test func redisIsKilledAndRestarted() async throws {
        let outcome = try await Self.run(appendOnly: true, commands: 600) { scene, _ in
            try await Self.waitForCount(scene, 100)
            try await scene.server.kill()
            try await scene.server.start()
        }
        #expect(outcome.others == [])
        #expect(outcome.answered == 600)
        #expect(outcome.counted == 600)
    }

    @Test func redisComesBackEmpty() async throws {
        let outcome = try await Self.run(appendOnly: false, commands: 600) { scene, _ in
            try await Self.waitForCount(scene, 100)
            try await scene.server.kill()
            try await scene.server.start()
        }
        // Consumer groups and functions are created again; unanswered commands are sent again and take effect once.
        #expect(outcome.others == [])
        #expect(outcome.answered == 600)
    }

    @Test func everyConnectionIsCutAgainAndAgain() async throws {
        let outcome = try await Self.run(appendOnly: false, commands: 600) { scene, _ in
            let killer = try await scene.otherConnection()
            for round in 1...4 {
                try await Self.waitForCount(scene, Int64(round * 80))
                _ = try await killer.execute(RedisCommand("CLIENT", "KILL", "SKIPME", "yes"))
            }
            await killer.close()
        }
        #expect(outcome.others == [])
        #expect(outcome.answered == 600)
        #expect(outcome.counted == 600)
    }
}
