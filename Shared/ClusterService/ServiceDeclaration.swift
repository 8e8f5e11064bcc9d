package import ClusterState
package import Logging
package import PostgresStore
package import RedisStore
package import ServiceKit
package import ServiceLifecycle
package import SignalingProtocol
package import SignalingWire

/// A service of the cluster, declared: what it is called, what it needs, and what it does. ``ServiceRuntime`` does the rest.
package protocol ServiceDeclaration: Sendable {
    /// What the service sets timers for; `Never` for one without timers.
    associatedtype Timer: ServiceTimer

    /// Names its streams of commands, its timers and its mirror.
    static var name: ServiceName { get }
    /// The Redis Functions that it calls, besides those of timers and streams.
    static var libraries: [RedisFunctionLibrary] { get }
    /// Connections to PostgreSQL of one process.
    var postgresConnections: Int { get }

    /// Builds the service's parts; nothing runs yet.
    func parts(on resources: ServiceResources<Timer>) async throws -> ServiceParts<Timer>
}

/// What a service's parts are built on.
package struct ServiceResources<Timer: ServiceTimer>: Sendable {
    /// This process among its kind.
    package let instance: String
    /// The connection for commands and functions.
    package let redis: RedisConnection
    /// What further connections of the service are made with.
    package let redisConfiguration: RedisConfiguration
    /// The connections to PostgreSQL.
    package let pool: PostgresPool
    /// The service's timers.
    package let timers: ServiceTimers<Timer>
    /// Since when Redis has been answering this process; known only where the service has timers.
    package let uptime: RedisUptime
    /// The process's logger.
    package let logger: Logger
}

/// What a service does. Everything is optional but the commands.
package struct ServiceParts<Timer: ServiceTimer> {
    /// Takes the service's commands.
    package var commands: CommandRouter
    /// The name under which the process takes commands; default: the instance.
    package var consumer: String?
    /// Waited for before the first command is taken; default: not at all.
    package var readyForCommands: @Sendable () async throws -> Void = {}
    /// Acts on a timer that is due, see ``ServiceTimers``.
    package var timerFired: (@Sendable (Timer) async throws -> Void)?
    /// Copies a batch of the service's changes into PostgreSQL, see `MirrorConsumer`.
    package var mirror: (@Sendable ([FieldReader]) async throws -> Void)?
    /// What one process at a time does about once a minute.
    package var rounds: [ServiceRound] = []
    /// What else runs, in order of start. It is shut down after the commands and before all the other parts.
    package var background: [any Service] = []
    /// What `/readyz` asks besides the stores.
    package var checks: [ReadinessCheck] = []
    /// Facts for `/healthz`.
    package var details: @Sendable () async -> [HealthDetail] = { [] }
    /// How long the graceful shutdown may take before what is left is cancelled.
    package var shutdownDeadline = ServiceRunner.shutdownDeadline

    /// A service that takes these commands and does nothing else yet.
    package init(commands: CommandRouter) { self.commands = commands }

    /// Copies changes row by row. One that cannot be read is logged and left out, so that it does not hold up the others.
    package mutating func mirror<Row: Sendable>(
        reading read: @escaping @Sendable (FieldReader) throws(SignalingError) -> Row, logger: Logger,
        into store: @escaping @Sendable ([Row]) async throws -> Void
    ) {
        mirror = { entries in
            var rows: [Row] = []
            rows.reserveCapacity(entries.count)
            for entry in entries {
                do throws(SignalingError) {
                    rows.append(try read(entry))
                } catch {
                    logger.error("could not read a mirror entry", metadata: ["error": "\(error)"])
                }
            }
            try await store(rows)
        }
    }
}

/// Something that one of a service's processes does once in a period, whichever comes first; see `SingletonJob`.
package struct ServiceRound: Sendable {
    /// Names it among all services' rounds.
    package let name: String
    /// From the start of one round to that of the next.
    package let period: Duration
    /// Does it; calls its argument more often than once in a period.
    package let perform: @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void

    /// Declares a round.
    package init(
        _ name: String, every period: Duration,
        perform: @escaping @Sendable (_ renew: @Sendable () async throws -> Void) async throws -> Void
    ) {
        self.name = name
        self.period = period
        self.perform = perform
    }
}
