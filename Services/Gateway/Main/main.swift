internal import GatewayServer
internal import RedisStore
internal import ServiceKit

await ServiceMain.run("gateway", settings: { GatewayConfiguration(environment: &$0) }) { context, configuration in
    let gateway = GatewayService(
        configuration: configuration, redis: try RedisConfiguration(url: context.configuration.redisURL),
        instance: context.configuration.instance, logger: context.logger)
    return ServiceAssembly(services: [gateway], checks: gateway.readiness, routes: gateway.routes)
}
