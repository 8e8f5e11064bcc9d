internal import GatewayServer
internal import ServiceKit
internal import ServiceLifecycle

private func assemble(_ context: ServiceContext, _ configuration: GatewayConfiguration) throws -> ServiceAssembly {
    let gateway = try GatewayService(
        configuration: configuration, redisURL: context.configuration.redisURL,
        redisReplicas: context.configuration.redisReplicas, instance: context.configuration.instance,
        logger: context.logger)
    var services: [any Service] = [gateway]
    if let api = gateway.api { services.append(api) }
    return ServiceAssembly(
        services: services, checks: gateway.readiness, routes: gateway.routes, details: { gateway.details },
        observe: { await gateway.observe() },
        shutdownDeadline: configuration.shutdownDeadline)
}

await ServiceMain.run("gateway", settings: { GatewayConfiguration(environment: &$0) }, assemble: assemble)
