internal import ClusterBus
internal import ClusterState
package import Logging
internal import NIOCore
internal import NIOPosix
package import PostgresStore
package import RedisClient
package import ServiceKit
internal import ServiceLifecycle
internal import SignalingProtocol

/// Builds what a declared service runs: its stores, timers, mirror, periodic jobs and commands, and the checks of the
/// health listener.
package enum ServiceRuntime {
    /// Builds a service from its process's settings.
    /// - Throws: what ``ServiceStores`` and the service's declaration throw.
    package static func assemble<Declaration: ServiceDeclaration>(
        _ service: Declaration, _ context: ServiceContext
    ) async throws -> ServiceAssembly {
        EventLoopLag.watch(MultiThreadedEventLoopGroup.singleton)
        let stores = try await ServiceStores(
            context, libraries: libraries(of: Declaration.self), postgresConnections: service.postgresConnections)
        return try await assemble(
            service, instance: context.configuration.instance, stores: stores, logger: context.logger)
    }

    /// Builds a service on the given stores, for a test.
    /// - Parameter instance: the process's name, unique among the service's instances.
    /// - Throws: what the service's declaration throws.
    package static func assemble<Declaration: ServiceDeclaration>(
        _ service: Declaration, instance: String, redis: RedisConfiguration, pool: PostgresPool, logger: Logger
    ) async throws -> ServiceAssembly {
        let stores = ServiceStores(redis: redis, libraries: libraries(of: Declaration.self), pool: pool, logger: logger)
        return try await assemble(service, instance: instance, stores: stores, logger: logger)
    }

    private static func libraries<Declaration: ServiceDeclaration>(of _: Declaration.Type) -> [RedisFunctionLibrary] {
        let timers = Declaration.Timer.self == Never.self ? [] : [RedisFunctionLibrary.timers]
        return Declaration.libraries + timers + [.streams, .instances]
    }

    private static func assemble<Declaration: ServiceDeclaration>(
        _ service: Declaration, instance: String, stores: ServiceStores, logger: Logger
    ) async throws -> ServiceAssembly {
        let timers = ServiceTimers<Declaration.Timer>(
            service: Declaration.name, connection: stores.redis, logger: logger)
        let cluster = ClusterInstance(
            kind: Declaration.name.rawValue, name: instance, redis: stores.redisConfiguration, logger: logger)
        let resources = ServiceResources(
            instance: instance, redis: stores.redis, pool: stores.pool, timers: timers,
            uptime: RedisUptime(connection: stores.redis), cluster: cluster, logger: logger)
        let parts = try await service.parts(on: resources)
        let services = services(of: Declaration.name, parts, on: resources)
        let admission = ClusterAdmission(services, cluster: cluster, stores: stores, logger: logger)
        return ServiceAssembly(
            services: [admission], checks: stores.checks + [admission.readiness] + parts.checks,
            details: { admission.details + (await parts.details()) },
            observe: {
                await stores.observe()
                await parts.observe()
            },
            shutdownDeadline: parts.shutdownDeadline)
    }

    /// What runs once the cluster has admitted a service. It is shut down in reverse order: commands first, so that no
    /// new ones are read; the stores, which are not among them, last.
    private static func services<Timer: ServiceTimer>(
        of name: ServiceName, _ parts: ServiceParts<Timer>, on resources: ServiceResources<Timer>
    ) -> [any Service] {
        var services: [any Service] = []
        if let fired = parts.timerFired {
            services += [resources.uptime, TimerService(timers: resources.timers, fired: fired)] as [any Service]
        }
        if let mirror = parts.mirror {
            services.append(
                MirrorConsumer(
                    .changes(name), instance: resources.instance, connection: resources.redis, logger: resources.logger,
                    handler: mirror))
        }
        for round in parts.rounds {
            services.append(
                SingletonJob(
                    round.name, every: round.period, connection: resources.redis, logger: resources.logger,
                    round: round.perform))
        }
        services += parts.background
        if !parts.commands.isEmpty {
            let commands = CommandConsumer(
                service: name, instance: parts.consumer ?? resources.instance, connection: resources.redis,
                router: parts.commands, logger: resources.logger)
            services.append(CommandService(ready: parts.readyForCommands, commands: commands))
        }
        return services
    }
}

private struct TimerService<Timer: ServiceTimer>: Service {
    let timers: ServiceTimers<Timer>
    let fired: @Sendable (Timer) async throws -> Void

    func run() async throws { await timers.run(fired) }
}

/// Handles commands once the service is ready for them.
private struct CommandService: Service {
    let ready: @Sendable () async throws -> Void
    let commands: CommandConsumer

    func run() async throws {
        try await ready()
        try await commands.run()
    }
}
