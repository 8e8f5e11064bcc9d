import Logging
import NIOCore
import NIOPosix
import RedisStore
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayServer

@Suite struct AppDirectoryTests {
    /// A command sender without Redis: the test supplies the answers.
    private static func sender(on loop: any EventLoop) throws -> CommandSender {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let connection = RedisCluster(
            configuration: try RedisConfiguration(url: "redis://127.0.0.1:1"), eventLoop: loop, logger: logger)
        return CommandSender(sender: .gateway(GatewayID("g")), connection: connection, logger: logger)
    }

    @Test(.timeLimit(.minutes(1))) func newerSettingsAreNotWaitedForLong() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let app = try AppID("a")
        let settings = AppSettings(certificate: "known", tokenRequired: true)
        let asked = ContinuousClock.now
        let answer = try await loop.flatSubmit {
            let answer = loop.makePromise(of: AppSettings.self)
            do {
                let sender = try Self.sender(on: loop)
                let directory = AppDirectory(sender: sender, freshness: .zero, renewal: .milliseconds(1))
                directory.find(app) { _ in }
                var fields = FieldWriter()
                settings.write(to: &fields)
                sender.received(CommandID("g-1"), .success(fields.encoded))
                // From here on nobody answers.
                directory.find(app) { answer.completeWith($0.mapError { $0 as any Error }) }
            } catch {
                answer.fail(error)
            }
            return answer.futureResult
        }.get()
        #expect(answer == settings)
        #expect(asked.duration(to: .now) < .seconds(8), "longer than a login has")
        try await group.shutdownGracefully()
    }

    @Test func theNumberOfRememberedUnknownAppsIsBounded() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let (waiting, answers) = try await loop.submit {
            let sender = try Self.sender(on: loop)
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
                    CommandID("g-\(number + 1)"), .failure(SignalingError(.loginRejected, .unknownApp, "none")))
            }
            for name in ["a", "b", "c"] { try find(name) }
            return (waiting, answers)
        }.get()
        // Two apps are cached, so the third is requested again.
        #expect(waiting == [1, 1, 1, 0, 0, 1])
        #expect(answers == ["a", "b", "c", "a", "b"].map { "\($0) unknown_app" })
        try await group.shutdownGracefully()
    }
}
