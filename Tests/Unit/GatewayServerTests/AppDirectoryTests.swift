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
        try await loop.submit {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let connection = RedisConnection(
                configuration: try RedisConfiguration(url: "redis://127.0.0.1:1"), eventLoop: loop, logger: logger)
            let sender = CommandSender(sender: GatewayID("g"), connection: connection, logger: logger)
            let directory = AppDirectory(sender: sender, unknownBound: 2)
            var answers: [String] = []
            func find(_ name: String) throws {
                directory.find(try AppID(name)) { result in
                    if case .failure(let error) = result { answers.append("\(name) \(error.reason)") }
                }
            }
            for (number, name) in ["a", "b", "c"].enumerated() {
                try find(name)
                #expect(sender.pendingCount == 1)
                sender.received(
                    CommandID("g-\(number + 1)"), .failure(SignalingError(.loginRejected, "unknown_app", "none")))
            }
            try find("a")
            try find("b")
            #expect(sender.pendingCount == 0, "two are remembered")
            #expect(answers == ["a", "b", "c", "a", "b"].map { "\($0) unknown_app" })
            try find("c")
            #expect(sender.pendingCount == 1, "the third is asked for again")
        }.get()
        try await group.shutdownGracefully()
    }
}
