import Logging
import ServiceLifecycle
import Testing

@testable import ServiceKit

@Suite("The life of a process's services")
struct ServiceRunnerTests {
    private struct Failing: Service {
        struct Broken: Error {}
        func run() async throws { throw Broken() }
    }

    private struct Finishing: Service {
        func run() async throws {}
    }

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func health() -> HealthServer {
        var reader = EnvironmentReader(environment: [:])
        let configuration = ServiceConfiguration(service: "presence", reading: &reader)
        let responder = HealthResponder(configuration: configuration)
        return HealthServer(configuration: configuration, responder: responder, logger: logger)
    }

    @Test("A service that throws or returns early ends the process with status 1", .timeLimit(.minutes(1)))
    func failure() async {
        #expect(await ServiceRunner.run(health: health(), services: [Failing()], logger: logger) == 1)
        #expect(await ServiceRunner.run(health: health(), services: [Finishing()], logger: logger) == 1)
    }
}
