internal import GatewayServer
internal import ServiceKit

private func assemble(_ context: ServiceContext, _ configuration: GatewayConfiguration) throws -> ServiceAssembly {
    let gateway = try GatewayService(
        configuration: configuration, redisURL: context.configuration.redisURL,
        instance: context.configuration.instance, logger: context.logger)
    return ServiceAssembly(
        services: [gateway], checks: gateway.readiness, routes: gateway.routes, details: { gateway.details },
        shutdownDeadline: configuration.shutdownDeadline)
}

await ServiceMain.run("gateway", settings: { GatewayConfiguration(environment: &$0) }, assemble: assemble)
