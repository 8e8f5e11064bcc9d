import BusProtocol
import ClusterState
import MessageStore
import NIOCore
import RedisClient
import SignalingProtocol
import TestKit
import Testing

/// What senders are told while Redis does not answer, and what Redis does with their messages afterwards.
@Suite(.timeLimit(.minutes(1))) struct MessageDeadlineTests {
    /// How long commands may take in these tests.
    private static let timeout = Duration.milliseconds(500 * patience)

    private struct Outcomes: Sendable {
        let toUser = Recording<Result<Int64, SignalingError>>()
        let toChannel = Recording<Result<ChannelMessageSent, SignalingError>>()
    }

    /// Sends a message to the user and one to the channel, which cannot be repeated, over a
    /// connection with a short time limit.
    private static func send(_ scene: MessageStoreScene, over connection: RedisClient) -> Outcomes {
        let outcomes = Outcomes()
        connection.eventLoop.execute {
            let batch = MailboxBatch(connection: connection, gateway: scene.gateway)
            batch.send(
                InstantMessage(
                    to: scene.user, from: UserKeys(scene.sender), in: scene.sending, line: "too late", seconds: 60)
            ) { outcomes.toUser.add($0) }
            var message = ChannelMessage(
                channel: scene.channel, account: scene.sender.account, uid: 7, body: "too late")
            message.fence = SessionFence(session: .server, gateway: scene.gateway)
            message.force = true
            MessageStore(connection: connection).sendToChannel(message) { outcomes.toChannel.add($0) }
        }
        return outcomes
    }

    @Test func whatWasToldAsFailedHasNoEffectLater() async throws {
        try await MessageStoreScene.run { scene in
            try await scene.admit(scene.sender.account)
            var configuration = try scene.redis.server.configuration
            configuration.commandTimeout = Self.timeout
            let connection = RedisClient(
                configuration: configuration, eventLoop: scene.redis.eventLoop, libraries: [.messages],
                logger: RedisScene.logger)
            connection.start()
            try await waitUntil("a connection") { connection.isConnected ? nil : "not connected" }
            let inTime = Self.send(scene, over: connection)
            try await inTime.toUser.wait(for: 1, "outcome")
            #expect(try inTime.toUser.all[0].get() > 0)
            try await inTime.toChannel.wait(for: 1, "outcome")
            #expect(try inTime.toChannel.all[0].get().sequence > 0)

            await scene.redis.server.freeze(true)
            let late = Self.send(scene, over: connection)
            try await late.toUser.wait(for: 1, "outcome")
            try await late.toChannel.wait(for: 1, "outcome")
            #expect(late.toUser.all == [.failure(.timeout())])
            #expect(late.toChannel.all == [.failure(.timeout())])
            await scene.redis.server.freeze(false)

            // Redis has read what was sent before it answers a newcomer.
            try await waitUntil("an answer") { (try? await scene.command("PING")) == nil ? "none" : nil }
            #expect(try await scene.lines() == ["too late"])
            #expect(try await scene.log(after: 0).events.count == 1)
            await connection.close()
        }
    }

    /// Their senders repeat them: a message that was refused while later ones are stored would come after them.
    @Test func whatIsRepeatedKeepsItsPlace() async throws {
        try await MessageStoreScene.run { scene in
            let outcomes = Recording<Result<Int64, SignalingError>>()
            @Sendable func send(_ text: String) {
                scene.redis.eventLoop.execute {
                    var message = InstantMessage(
                        to: scene.user, from: UserKeys(scene.sender), in: scene.sending, line: text, seconds: 60)
                    message.command = CommandID(text)
                    scene.batch.value.send(message) { outcomes.add($0) }
                }
            }
            await scene.redis.server.freeze(true)
            send("first")
            try await outcomes.wait(for: 1, "outcome")
            #expect(outcomes.all == [.failure(.timeout())])
            send("second")
            await scene.redis.server.freeze(false)
            try await outcomes.wait(for: 2, "outcome")
            #expect(try outcomes.all[1].get() > 0)
            send("first")
            try await outcomes.wait(for: 3, "outcome")
            #expect(outcomes.all[2] == .success(0))
            #expect(try await scene.lines() == ["first", "second"])
        }
    }
}
