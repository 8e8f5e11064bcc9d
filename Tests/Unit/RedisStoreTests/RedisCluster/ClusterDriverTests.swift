import Logging
import NIOCore
import NIOPosix
import TestKit
import Testing

@testable import RedisStore

/// A cluster's client with its own timers, at servers that answer as the test says.
@Suite(.timeLimit(.minutes(2))) struct ClusterDriverTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func client(
        of nodes: [NodeAddress], commandTimeout: Duration = .seconds(8)
    ) throws -> RedisCluster {
        let hosts = nodes.map { "\($0.host):\($0.port)" }.joined(separator: ",")
        return try RedisCluster(
            url: "redis+cluster://\(hosts)", eventLoop: MultiThreadedEventLoopGroup.singleton.next(), libraries: [],
            logger: logger, configure: { $0.commandTimeout = commandTimeout })
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
}
