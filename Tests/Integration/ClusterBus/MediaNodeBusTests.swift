import BusProtocol
import ClusterBus
import ClusterState
import Logging
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// The list of media nodes, and commands to one of them.
@Suite(.timeLimit(.minutes(2))) struct MediaNodeBusTests {
    private static let node = MediaNodeID("media-1-a")
    private static let other = MediaNodeID("media-2-b")

    private static func leave(_ node: MediaNodeID) throws -> LeaveMedia {
        LeaveMedia(
            from: node, channel: MediaChannelKey(app: try AppID("app"), name: try MediaChannelName("room")),
            participant: ParticipantID("p"))
    }

    private static func living(_ list: MediaNodeList) async throws -> [LiveMediaNode] {
        try await list.living().sorted { $0.id < $1.id }
    }

    @Test func onlyTheNodeGetsItsCommands() async throws {
        try await RedisScene.run { scene in
            let handled = Recording<MediaNodeID>()
            var router = CommandRouter()
            router.on(LeaveMedia.self) { command, _ throws(SignalingError) in
                handled.add(command.from)
                return MediaLeft(duration: 1, bytes: 2)
            }
            let consumer = CommandConsumer(
                node: Self.node, connection: scene.connection, router: router, logger: RedisScene.logger)
            try await consumer.createStream()
            let running = Task { try await consumer.run() }
            let gateway = try await RedisGateway(scene)
            #expect(
                await gateway.send(try Self.leave(Self.node)) == .success(MediaLeft(duration: 1, bytes: 2)))
            #expect(handled.all == [Self.node])
            running.cancel()
            try await running.value
        }
    }

    @Test func aNodeThatIsGoneIsUnreachableAtOnce() async throws {
        try await RedisScene.run { scene in
            let gateway = try await RedisGateway(scene)
            let start = ContinuousClock.now
            guard case .failure(let error) = await gateway.send(try Self.leave(Self.other)) else {
                return #expect(Bool(false), "answered")
            }
            #expect(error.reason == .nodeUnreachable && start.duration(to: .now) < .seconds(5))
            let stream = KeySpace.commands(Self.other, in: .whole)
            #expect(try await scene.connection.execute(RedisCommand("EXISTS", key: stream)).int == 0)
        }
    }

    @Test func whoHasNotShownItselfForThreeSecondsIsLeftOut() async throws {
        try await RedisScene.run(libraries: [.streams, .leases]) { scene in
            let list = MediaNodeList(connection: scene.connection)
            #expect(try await Self.living(list) == [])
            try await list.announce(Self.node, MediaNodeRecord(load: 7, isDraining: false))
            try await list.announce(Self.other, MediaNodeRecord(load: 1000, isDraining: true))
            #expect(
                try await Self.living(list) == [
                    LiveMediaNode(id: Self.node, record: MediaNodeRecord(load: 7, isDraining: false)),
                    LiveMediaNode(id: Self.other, record: MediaNodeRecord(load: 1000, isDraining: true)),
                ])
            try await list.withdraw(Self.other)
            #expect(try await Self.living(list).map(\.id) == [Self.node])
            try await waitUntil("an empty list") {
                try await Self.living(list).isEmpty ? nil : "the node is still listed"
            }
            // What is read of it is removed too.
            #expect(
                try await scene.connection.execute(RedisCommand("EXISTS", key: KeySpace.mediaNodes)).int == 0)
        }
    }

    @Test func aHeartbeatKeepsTheStreamOfCommands() async throws {
        try await RedisScene.run(libraries: [.streams, .leases]) { scene in
            let list = MediaNodeList(connection: scene.connection)
            let consumer = CommandConsumer(
                node: Self.node, connection: scene.connection, router: CommandRouter(), logger: RedisScene.logger)
            try await consumer.createStream()
            try await list.announce(Self.node, MediaNodeRecord(load: 0, isDraining: false))
            let stream = KeySpace.commands(Self.node, in: .whole)
            let left = try await scene.connection.execute(RedisCommand("PTTL", key: stream)).int ?? 0
            #expect(left > 50_000 && left <= 60_000)
            try await list.withdraw(Self.node)
            #expect(try await scene.connection.execute(RedisCommand("EXISTS", key: stream)).int == 0)
        }
    }
}
