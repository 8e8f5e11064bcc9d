package import BusProtocol
package import ClusterBus
package import ClusterState
package import Logging
package import PostgresStore
package import RedisClient
package import ServiceKit
package import ServiceLifecycle
package import SignalingProtocol

/// Declares a service of the cluster: its name, what it needs, and its parts. ``ServiceRuntime`` runs it.
package protocol ServiceDeclaration: Sendable {
    /// What the service's timers are for; `Never` for a service without timers.
    associatedtype Timer: ServiceTimer

    /// Part of the names of the service's command streams, timers and mirror stream.
    static var name: ServiceName { get }
    /// The libraries of Redis Functions that it calls, besides those for timers and streams.
    static var libraries: [RedisFunctionLibrary] { get }
    /// The number of connections to PostgreSQL per process.
    var postgresConnections: Int { get }

    /// Builds the service's parts; nothing runs yet.
    func parts(on resources: ServiceResources<Timer>) async throws -> ServiceParts<Timer>
}

/// The connections and settings from which a service builds its parts.
package struct ServiceResources<Timer: ServiceTimer>: Sendable {
    /// The name of this process, unique among the service's instances.
    package let instance: String
    /// The connection for commands and functions.
    package let redis: RedisClient
    /// The connections to PostgreSQL.
    package let pool: PostgresPool
    /// The service's timers.
    package let timers: ServiceTimers<Timer>
    /// Tells since when Redis has been answering this process; known only in a service with timers.
    package let uptime: RedisUptime
    /// This process among the cluster's; knows the cluster's level.
    package let cluster: ClusterInstance
    /// The process's logger.
    package let logger: Logger
}

/// The parts of a service. All but the commands are optional.
package struct ServiceParts<Timer: ServiceTimer> {
    /// The handlers of the service's commands. Without any, nothing is read from its streams.
    package var commands: CommandRouter
    /// The name under which this process consumes commands; nil (the default) for the instance's name.
    package var consumer: String?
    /// Awaited before the first command is read; by default returns at once.
    package var readyForCommands: @Sendable () async throws -> Void = {}
    /// Handles a timer that is due, see ``ServiceTimers``.
    package var timerFired: (@Sendable (Timer) async throws -> Void)?
    /// Copies a batch of the service's changes into PostgreSQL, see `MirrorConsumer`.
    package var mirror: (@Sendable ([FieldReader]) async throws -> Void)?
    /// Periodic jobs, each run by one process of the service at a time.
    package var rounds: [ServiceRound] = []
    /// Further tasks, in order of start. At shutdown they end after the commands and before all other parts.
    package var background: [any Service] = []
    /// Readiness checks for `/readyz`, besides those of the two stores.
    package var checks: [ReadinessCheck] = []
    /// Facts that `/healthz` shows.
    package var details: @Sendable () async -> [HealthDetail] = { [] }
    /// Updates metrics before they are shown, besides those of the stores.
    package var observe: @Sendable () async -> Void = {}
    /// The time limit of a graceful shutdown, after which the remaining parts are cancelled.
    package var shutdownDeadline = ServiceRunner.shutdownDeadline

    /// Creates the parts of a service that only handles commands; others can be set afterwards.
    package init(commands: CommandRouter) { self.commands = commands }

    /// Sets ``mirror`` to decode each change as a row and to store the rows of a batch together. A change that cannot
    /// be decoded is logged and skipped, so that it does not hold up the others.
    package mutating func mirror<Row: FieldCodable & SendableMetatype>(
        _ row: Row.Type, logger: Logger,
        into store: @escaping @Sendable ([Row]) async throws -> Void
    ) {
        mirror = { entries in
            var rows: [Row] = []
            rows.reserveCapacity(entries.count)
            for entry in entries {
                do throws(SignalingError) {
                    rows.append(try Row(from: entry))
                } catch {
                    logger.error("could not read a mirror entry", metadata: ["error": "\(error)"])
                }
            }
            try await store(rows)
        }
    }
}

/// A periodic job that one process of a service runs at a time; see `SingletonJob`.
package struct ServiceRound: Sendable {
    /// The job's name, unique among all services.
    package let name: String
    /// The time from the start of one round to the start of the next.
    package let period: Duration
    /// Does one round. It must call `renew` more often than once per period.
    package let perform: @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void

    /// Creates a job.
    package init(
        _ name: String, every period: Duration,
        perform: @escaping @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void
    ) {
        self.name = name
        self.period = period
        self.perform = perform
    }
}
