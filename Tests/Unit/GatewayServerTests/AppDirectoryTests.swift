import Logging
import NIOCore
import NIOPosix
import RedisStore
import SignalingProtocol
import Testing

@testable import GatewayServer

@Suite struct AppDirectoryTests {
    @Test func soManyIdsThatAreNoneAreRemembered() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let (waiting, answers) = try await loop.submit {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let connection = RedisConnection(
                configuration: try RedisConfiguration(url: "redis://127.0.0.1:1"), eventLoop: loop, logger: logger)
            let sender = CommandSender(sender: GatewayID("g"), connection: connection, logger: logger)
            let directory = AppDirectory(sender: sender, unknownBound: 2)
            var answers: [String] = []
            var waiting: [Int] = []
            func find(_ name: String) throws {
                directory.find(try AppID(name)) { result in
                    if case .failure(let error) = result { answers.append("\(name) \(error.reason)") }
                }
                waiting.append(sender.pendingCount)
            }
            for (number, name) in ["a", "b", "c"].enumerated() {
                try find(name)
                sender.received(
                    CommandID("g-\(number + 1)"), .failure(SignalingError(.loginRejected, "unknown_app", "none")))
            }
            for name in ["a", "b", "c"] { try find(name) }
            return (waiting, answers)
        }.get()
        // Two are remembered, the third is asked for again.
        #expect(waiting == [1, 1, 1, 0, 0, 1])
        #expect(answers == ["a", "b", "c", "a", "b"].map { "\($0) unknown_app" })
        try await group.shutdownGracefully()
    }
}
