internal import ClusterBus
package import ClusterService
package import ClusterState
internal import Logging
internal import PostgresStore
internal import RedisClient
package import SignalingProtocol
internal import WebhookClient

/// The webhooks service: sends apps' events to their servers.
///
/// Any number of instances share the work. All state is in PostgreSQL; of Redis only the
/// places of the mirrors are read.
package struct WebhooksService: ServiceDeclaration {
    package static let name = ServiceName.webhooks
    package static let libraries: [RedisFunctionLibrary] = []
    package let postgresConnections = 4

    private let configuration: WebhooksConfiguration

    /// Creates the service with its settings.
    package init(_ configuration: WebhooksConfiguration = WebhooksConfiguration()) {
        self.configuration = configuration
    }

    package func parts(on resources: ServiceResources<Never>) throws -> ServiceParts<Never> {
        // Declares everything that the service counts.
        _ = WebhooksMetrics.shared
        // A new name for each run: a lease of the process before is not this one's.
        let queue = WebhookQueue(
            pool: resources.pool, process: "\(resources.instance)-\(SecureRandom.hex(bytes: 4))")
        let transport = try WebhookTransport(authorityFile: configuration.authorityFile)
        var parts = ServiceParts<Never>(commands: CommandRouter())
        parts.background = [
            WebhookUpkeep(queue: queue, configuration: configuration, logger: resources.logger),
            WebhookCourier(
                queue: queue, transport: transport, mirrors: MirrorReader(redis: resources.redis),
                configuration: configuration, logger: resources.logger),
        ]
        parts.shutdownDeadline = configuration.timeout + .seconds(15)
        return parts
    }
}
