import BusProtocol
import ClusterBus
import Logging
import NIOCore
import NIOPosix
import RedisClient
import SignalingProtocol
import Testing

@testable import GatewayServer

@Suite struct AppDirectoryTests {
    /// A command sender without Redis: the test supplies the answers.
    private static func sender(on loop: any EventLoop) throws -> CommandSender {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let connection = RedisClient(
            configuration: try RedisConfiguration(url: "redis://127.0.0.1:1"), eventLoop: loop, logger: logger)
        return CommandSender(sender: .gateway(GatewayID("g")), connection: connection, logger: logger)
    }

    /// An app directory whose questions the test answers; everything on one loop.
    private final class Scene: Sendable {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let app: AppID
        private let parts: NIOLoopBound<(directory: AppDirectory, sender: CommandSender)>

        init(
            freshness: Duration = .zero, ageBound: Duration = .seconds(600), renewal: Duration = .seconds(600)
        ) async throws {
            app = try AppID("a")
            let loop = group.next()
            parts = try await loop.submit {
                let sender = try AppDirectoryTests.sender(on: loop)
                let directory = AppDirectory(
                    sender: sender, freshness: freshness, ageBound: ageBound, renewal: renewal)
                return NIOLoopBound((directory, sender), eventLoop: loop)
            }.get()
        }

        /// The certificates that logins get, and how many commands wait for presence afterwards.
        func find(times: Int = 1) async throws -> (got: [String], pending: Int) {
            try await group.next().submit { [self] in
                let got = NIOLoopBoundBox([String](), eventLoop: group.next())
                for _ in 0..<times {
                    parts.value.directory.find(app) { result in
                        got.value.append((try? result.get())?.certificate ?? "none")
                    }
                }
                return (got.value, parts.value.sender.pendingCount)
            }.get()
        }

        /// The certificate that a login gets which may have to wait.
        func await() async throws -> String {
            try await group.next().flatSubmit { [self] in
                let answer = group.next().makePromise(of: String.self)
                parts.value.directory.find(app) { result in
                    answer.completeWith(result.map(\.certificate).mapError { $0 as any Error })
                }
                return answer.futureResult
            }.get()
        }

        /// Presence answers a question.
        func answer(_ number: Int, _ certificate: String?) async throws {
            try await group.next().submit { [self] in received(number, certificate) }.get()
        }

        /// A login asks the first question, which is answered before its time can pass.
        func findAnswered(_ certificate: String) async throws {
            try await group.next().submit { [self] in
                parts.value.directory.find(app) { _ in }
                received(1, certificate)
            }.get()
        }

        /// Presence answers a question as soon as it is asked.
        func answerWhenAsked(_ number: Int, _ certificate: String) {
            _ = group.next().scheduleRepeatedTask(initialDelay: .zero, delay: .microseconds(100)) { [self] _ in
                received(number, certificate)
            }
        }

        /// On the loop.
        private func received(_ number: Int, _ certificate: String?) {
            var fields = FieldWriter()
            AppSettings(certificate: certificate ?? "", tokenRequired: true).write(to: &fields)
            let failure = SignalingError(.loginOther, .unavailable, "away")
            parts.value.sender.received(
                CommandID("g-\(number)"), certificate == nil ? .failure(failure) : .success(fields.encoded))
        }
    }

    @Test func oldSettingsAreServedAndRenewedMeanwhile() async throws {
        let scene = try await Scene()
        #expect(try await scene.find() == ([], 1), "nothing is cached")
        try await scene.answer(1, "first")
        #expect(try await scene.find(times: 3) == (["first", "first", "first"], 1), "one question for all")
        try await scene.answer(2, "second")
        #expect(try await scene.find() == (["second"], 1))
        try await scene.group.shutdownGracefully()
    }

    @Test func settingsOfAnAgeAreNotServedWhilePresenceAnswers() async throws {
        let scene = try await Scene(ageBound: .zero)
        _ = try await scene.find()
        try await scene.answer(1, "first")
        #expect(try await scene.find() == ([], 1), "nobody has asked for long")
        try await scene.answer(2, "second")
        #expect(try await scene.find() == ([], 1))
        try await scene.answer(3, nil)
        #expect(try await scene.find(times: 2) == (["second", "second"], 0), "the failure is remembered")
        try await scene.group.shutdownGracefully()
    }

    /// Where the master with presence's commands has become silent, which is not known yet.
    @Test(.timeLimit(.minutes(1))) func aSilentPresenceKeepsOnlyTheFirstLoginWaiting() async throws {
        let scene = try await Scene(ageBound: .zero, renewal: .milliseconds(1))
        try await scene.findAnswered("first")
        #expect(try await scene.await() == "first", "after the time for a renewal")
        #expect(try await scene.find() == (["first"], 0))
        try await scene.group.shutdownGracefully()
    }

    /// A question that was not answered in time is asked again: another master may carry it.
    @Test(.timeLimit(.minutes(1))) func anUnknownAppIsAskedForAgain() async throws {
        let scene = try await Scene(renewal: .milliseconds(20))
        scene.answerWhenAsked(2, "second")
        #expect(try await scene.await() == "second")
        try await scene.group.shutdownGracefully()
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
