import BusProtocol
import ClusterBus
import ClusterState
import RedisClient
import SignalingProtocol
import Synchronization
import TestKit
import Testing

/// A sip-bridge's own stream has one consumer, which handles one command at a time, in order.
@Suite(.timeLimit(.minutes(2))) struct RedisOrderTests {
    private static let bridge = BridgeID("b1")

    private static func order(_ number: Int) throws -> OrderPhone {
        OrderPhone(
            call: PhoneCall(
                id: "c", channel: ChannelKey(app: try AppID("app"), name: try ChannelName("room")),
                user: try Account("alice"), phone: try Account("1")), act: .message, extra: "\(number)")
    }

    private static func post(_ scene: RedisScene, _ number: Int) async throws -> RedisValue {
        try await scene.connection.execute(
            PostedCommand.command(for: try order(number), id: CommandID("o\(number)"), to: bridge))
    }

    private static func consumer(_ scene: RedisScene, _ router: CommandRouter) throws -> CommandConsumer {
        CommandConsumer(
            bridge: bridge, connection: scene.connection, router: router, logger: RedisScene.logger)
    }

    /// Records the handled orders; earlier orders take longer to handle.
    private static func slowRouter(_ handled: Recording<String>) -> CommandRouter {
        var router = CommandRouter()
        router.on(OrderPhone.self) { command, _ throws(SignalingError) in
            let milliseconds = max(0, 20 - (Int(command.extra) ?? 0))
            try? await letPass(.milliseconds(milliseconds), "the earlier an order, the longer it takes")
            handled.add(command.extra)
            return Done()
        }
        return router
    }

    @Test func ordersDoNotOvertakeEachOther() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            let consumer = try Self.consumer(scene, Self.slowRouter(handled))
            try await consumer.createStream()
            let running = Task { try await consumer.run() }
            for number in 0..<200 { #expect(try await !Self.post(scene, number).isNull) }
            try await handled.wait(for: 200, "orders")
            #expect(handled.all == (0..<200).map { "\($0)" })
            running.cancel()
            try await running.value
        }
    }

    @Test func streamThatIsGoneTakesNothing() async throws {
        try await RedisScene.run { scene in
            let answer = try await Self.post(scene, 1)
            #expect(answer.isNull)
            let exists = RedisCommand("EXISTS", .string(KeySpace.commands(Self.bridge)))
            let count = try await scene.connection.execute(exists).int
            #expect(count == 0)
        }
    }

    @Test func orderThatComesAgainTakesEffectOnce() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            let consumer = try Self.consumer(scene, Self.slowRouter(handled))
            try await consumer.createStream()
            let running = Task { try await consumer.run() }
            for number in [1, 1, 2, 1, 3] { _ = try await Self.post(scene, number) }
            try await handled.wait(for: 3, "orders")
            #expect(handled.all == ["1", "2", "3"])
            running.cancel()
            try await running.value
        }
    }

    @Test func whatWasReadAndNotFinishedComesFirst() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            let consumer = try Self.consumer(scene, Self.slowRouter(handled))
            try await consumer.createStream()
            for number in 0..<3 { _ = try await Self.post(scene, number) }
            // The entry was read under this consumer's name, but the answer to the read was lost.
            _ = try await scene.connection.execute(
                RedisCommand(
                    "XREADGROUP", "GROUP", "service", .string(Self.bridge.rawValue), "COUNT", 2, "STREAMS",
                    .string(KeySpace.commands(Self.bridge)), ">"))
            _ = try await Self.post(scene, 3)
            let running = Task { try await consumer.run() }
            try await handled.wait(for: 4, "orders")
            #expect(handled.all == ["0", "1", "2", "3"])
            running.cancel()
            try await running.value
        }
    }

    @Test func removedStreamIsMadeAgainByItsReader() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<String>()
            let consumer = try Self.consumer(scene, Self.slowRouter(handled))
            try await consumer.createStream()
            let running = Task { try await consumer.run() }
            _ = try await Self.post(scene, 1)
            try await handled.wait(for: 1, "order")
            _ = try await scene.connection.execute(RedisCommand("DEL", .string(KeySpace.commands(Self.bridge))))
            try await waitUntil("the stream") { try await Self.post(scene, 2).isNull ? "not there" : nil }
            try await handled.wait(for: 2, "orders")
            #expect(handled.all == ["1", "2"])
            running.cancel()
            try await running.value
        }
    }
}
