internal import BusProtocol
internal import ClusterBus
package import ClusterService
package import ClusterState
internal import Logging
internal import ServiceKit
internal import ServiceLifecycle
package import SignalingProtocol

/// The media node: the users of a media channel hear each other through it.
///
/// Any number of nodes share the channels. A channel is on one node, and its participants end with the process.
package struct MediaService: ServiceDeclaration {
    package static let name = ServiceName.media
    package static let libraries: [RedisFunctionLibrary] = [.leases]
    package let postgresConnections = 1

    private let configuration: MediaConfiguration

    /// Creates the service with its settings.
    package init(_ configuration: MediaConfiguration) { self.configuration = configuration }

    /// Creates the node's parts; nothing is bound yet.
    package func parts(on resources: ServiceResources<Never>) throws -> ServiceParts<Never> {
        // Declares everything that the service counts.
        _ = MediaMetrics.shared
        let (redis, logger) = (resources.redis, resources.logger)
        // A new id for each run, because participants do not outlive their process.
        let instance = resources.instance.filter { $0.isLetter || $0.isNumber }
        let id = MediaNodeID("\(instance)-\(SecureRandom.hex(bytes: 4))")
        let run = MediaNodeRun(id: id, configuration: configuration, redis: redis, logger: logger)
        let orders = CommandConsumer(node: id, connection: redis, router: Self.router(run), logger: logger)
        let listing = MediaNodeListing(
            id: id, list: MediaNodeList(connection: redis), orders: orders, run: run, logger: logger)
        var parts = ServiceParts<Never>(commands: CommandRouter())
        // Shut down in reverse order: first participants end, while joins are still refused; the
        // node's stream is removed last.
        parts.background = [listing, orders, run]
        parts.checks = [ReadinessCheck(name: "media") { run.port == nil ? "not listening" : nil }]
        parts.details = { [host = configuration.host] in Self.details(id, host: host, port: run.port) }
        parts.observe = { await run.observe() }
        return parts
    }

    /// The facts that `/healthz` shows: the node's id, and its address once it is open.
    private static func details(_ id: MediaNodeID, host: String, port: Int?) -> [HealthDetail] {
        guard let port else { return [] }
        return [HealthDetail("node", id.rawValue), HealthDetail("mediaHost", host), HealthDetail("mediaPort", port)]
    }

    private static func router(_ run: MediaNodeRun) -> CommandRouter {
        var router = CommandRouter()
        add(JoinMedia.self, to: &router, run) { node, command, _, asker throws(MediaRefusal) in
            try await node.join(command, asker: asker)
        }
        add(ResumeMedia.self, to: &router, run) { node, command, _, asker throws(MediaRefusal) in
            try await node.resume(command, asker: asker)
        }
        add(RestartMedia.self, to: &router, run) { node, command, id, asker throws(MediaRefusal) in
            try await node.restart(command, id, asker: asker)
        }
        add(RenewMedia.self, to: &router, run) { node, command, _, asker throws(MediaRefusal) in
            try await node.renew(command, asker: asker)
            return Done()
        }
        add(MuteMedia.self, to: &router, run) { node, command, _, asker throws(MediaRefusal) in
            try await node.mute(command, asker: asker)
        }
        add(LeaveMedia.self, to: &router, run) { node, command, _, asker throws(MediaRefusal) in
            try await node.leave(command, asker: asker)
        }
        return router
    }

    /// Adds the handler of a command, whose refusals are those of media calls.
    private static func add<Command: ServiceCommand>(
        _ type: Command.Type, to router: inout CommandRouter, _ run: MediaNodeRun,
        _ handle:
            @escaping @Sendable (MediaNode, Command, CommandID, AskerID) async throws(MediaRefusal) ->
            Command.Reply
    ) {
        router.on(type) { command, context throws(SignalingError) in
            // All participants are a gateway's, or another process's.
            guard let asker = context.asker else { throw MediaRefusal.refused.error }
            do throws(MediaRefusal) {
                return try await handle(try node(of: run), command, context.id, asker)
            } catch {
                throw error.error
            }
        }
    }

    /// The node takes commands between the opening of its socket and its end.
    private static func node(of run: MediaNodeRun) throws(MediaRefusal) -> MediaNode {
        guard let node = run.node else { throw .draining }
        return node
    }
}
