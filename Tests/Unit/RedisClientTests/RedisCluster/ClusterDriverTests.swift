import Logging
import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import RedisClient

/// A cluster's client with its own timers, at servers that answer as the test says.
@Suite(.timeLimit(.minutes(2))) struct ClusterDriverTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func client(
        of nodes: [NodeAddress], commandTimeout: Duration = .seconds(8)
    ) throws -> RedisClient {
        let hosts = nodes.map { "\($0.host):\($0.port)" }.joined(separator: ",")
        return try RedisClient(
            url: "redis+cluster://\(hosts)", eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [],
            logger: logger, configure: { $0.commandTimeout = commandTimeout })
    }

    /// What a client throws at its check of the servers; nil when it may use them.
    private static func refusal(of nodes: [NodeAddress]) async throws -> String? {
        let client = try client(of: nodes, commandTimeout: .milliseconds(500))
        do throws(RedisError) {
            try await client.verify()
            await client.close()
            return nil
        } catch {
            await client.close()
            return error.message
        }
    }

    /// The answer to a later command of the slot comes after the refusal, and sets no timer of its own.
    @Test func aRefusedCommandIsTriedAgainThoughALaterOneIsAnswered() async throws {
        let node = try await ScriptedNode { words, count in
            words[0] == "SET" && count == 0 ? "-TRYAGAIN later\r\n" : "+OK\r\n"
        }
        let client = try Self.client(of: [node.address])
        client.start()
        try await waitUntil("a connection") { await client.checkReadiness() == .ready ? nil : "none" }
        async let refused = client.execute([
            RedisCommand("SET", "k", "1").inSlot(7), RedisCommand("GET", "k").inSlot(7),
        ])
        for result in await refused { #expect(try result.get().string == "OK") }
        let received = node.received
        #expect(received.map { $0.words[0] } == ["SET", "GET", "SET"])
        // 10 to 40 ms; without a timer it would come with the next reading of the map, after seconds.
        #expect(received[2].time - received[0].time < .seconds(1))
        await client.close()
        try await node.close()
    }

    @Test func aServerThatWasRemovedFromTheClusterDoesNotPreventTheStart() async throws {
        let removed = try await ScriptedNode { _, _ in "+OK\r\n" }
        removed.own(nil)
        let partial = try await ScriptedNode { _, _ in "+OK\r\n" }
        partial.own(0...9)
        let whole = try await ScriptedNode { _, _ in "+OK\r\n" }
        let away = NodeAddress(host: "127.0.0.1", port: try RedisServer.freePort())

        #expect(try await Self.refusal(of: [removed.address, partial.address, away, whole.address]) == nil)
        let alone = try await Self.refusal(of: [removed.address])
        #expect(alone == "\(removed.address) knows no master that owns a slot")
        let both = try await Self.refusal(of: [partial.address, removed.address])
        #expect(both == "no master of the Redis Cluster serves the slots 10-16383")
        let rest = try await Self.refusal(of: [away, removed.address])
        #expect(rest == alone, "what was said, not that one server does not answer")
        for node in [removed, partial, whole] { try await node.close() }
    }
}
