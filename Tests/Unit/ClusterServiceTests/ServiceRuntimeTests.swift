import BusProtocol
import ClusterBus
import ClusterService
import ClusterState
import Logging
import PostgresStore
import RedisClient
import ServiceKit
import ServiceLifecycle
import SignalingProtocol
import Synchronization
import Testing

@Suite struct ServiceRuntimeTests {
    private enum ProbeTimer: ServiceTimer {
        var subject: Subject { .tagged("{probe}") }
        init?(words: [String]) { return nil }
        var words: [String] { switch self {} }
    }

    private struct Background: Service {
        func run() async throws {}
    }

    private struct Probe<Timer: ServiceTimer>: ServiceDeclaration {
        static var name: ServiceName { .presence }
        static var libraries: [RedisFunctionLibrary] { [] }
        let postgresConnections = 1
        var fired: (@Sendable (Timer) async throws -> Void)?
        var takesCommands = true

        func parts(on resources: ServiceResources<Timer>) -> ServiceParts<Timer> {
            var commands = CommandRouter()
            if takesCommands {
                commands.on(GetApp.self) { (_, _) throws(SignalingError) in throw .timeout() }
            }
            var parts = ServiceParts<Timer>(commands: commands)
            parts.timerFired = fired
            parts.mirror = { _ in }
            parts.rounds = [ServiceRound("probe", every: .seconds(60)) { _ in }]
            parts.background = [Background()]
            parts.checks = [ReadinessCheck(name: "probe") { nil }]
            parts.details = { [HealthDetail("probe", 1)] }
            parts.shutdownDeadline = .seconds(7)
            return parts
        }
    }

    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func assemble<Timer: ServiceTimer>(_ probe: Probe<Timer>) async throws -> ServiceAssembly {
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(url: "postgresql://nobody@127.0.0.1:1/none"), connections: 1,
            logger: silent)
        return try await ServiceRuntime.assemble(
            probe, instance: "probe-1", redis: try RedisConfiguration(url: "redis://127.0.0.1:1"), pool: pool,
            logger: silent)
    }

    /// The names of the services' types, without their generic arguments.
    private static func kinds(_ assembly: ServiceAssembly) -> [String] {
        let admission = assembly.services.first as? ClusterAdmission
        return (admission?.services ?? []).map { String(String(describing: type(of: $0)).prefix { $0 != "<" }) }
    }

    @Test func `commands start last and so stop first, the stores the other way round`() async throws {
        let assembly = try await Self.assemble(Probe<ProbeTimer>(fired: { _ in }))
        #expect(
            Self.kinds(assembly) == [
                "ServiceStores", "ProcessRecordUpkeep", "RedisUptime", "TimerService", "MirrorConsumer", "SingletonJob",
                "Background", "CommandService",
            ])
        #expect(assembly.checks.map(\.name) == ["redis", "postgres", "cluster", "probe"])
        // The build's level, the cluster's, and what the probe adds.
        #expect(await assembly.details().count == 3)
        #expect(assembly.shutdownDeadline == .seconds(7))
    }

    @Test func `a service without timers asks for no time`() async throws {
        let kinds = Self.kinds(try await Self.assemble(Probe<Never>()))
        #expect(
            kinds == [
                "ServiceStores", "ProcessRecordUpkeep", "MirrorConsumer", "SingletonJob", "Background",
                "CommandService",
            ])
    }

    @Test func `a service without commands reads none`() async throws {
        let kinds = Self.kinds(try await Self.assemble(Probe<Never>(takesCommands: false)))
        #expect(kinds == ["ServiceStores", "ProcessRecordUpkeep", "MirrorConsumer", "SingletonJob", "Background"])
    }

    @Test func `a mirror entry that cannot be read does not hold up the others`() async throws {
        let copied = Mutex<[String]>([])
        var parts = ServiceParts<Never>(commands: CommandRouter())
        parts.mirror(GetApp.self, logger: Self.silent) { rows in
            copied.withLock { $0 += rows.map(\.app.rawValue) }
        }
        let entries = ["one", nil, "two"].map { name in
            FieldReader(pairs: name.map { [(name: "app", value: Array($0.utf8))] } ?? [])
        }
        let mirror = try #require(parts.mirror)
        try await mirror(entries)
        #expect(copied.withLock { $0 } == ["one", "two"])
    }
}
