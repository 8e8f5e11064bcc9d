internal import GatewayServer
internal import ServiceKit

await ServiceMain.run("gateway", settings: { GatewayConfiguration(environment: &$0) }) { context, configuration in
    let gateway = try GatewayService(
        configuration: configuration, redisURL: context.configuration.redisURL,
        instance: context.configuration.instance,
        logger: context.logger)
    return ServiceAssembly(services: [gateway], checks: gateway.readiness, routes: gateway.routes)
}
