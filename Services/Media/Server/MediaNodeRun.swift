internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import Logging
internal import RedisClient
internal import ServiceKit
internal import ServiceLifecycle
internal import SignalingProtocol
internal import Synchronization

/// Runs the node: opens its socket, takes what the loop tells, publishes events, and ends
/// its participants at the shutdown.
final class MediaNodeRun: Service {
    private struct Open: Sendable {
        let transport: MediaTransport
        let node: MediaNode
    }

    private let id: MediaNodeID
    private let configuration: MediaConfiguration
    private let redis: RedisClient
    private let list: MediaNodeList
    private let logger: Logger
    private let open = Mutex<Open?>(nil)
    private let outbox: MediaOutbox
    private let counting = MediaCounting()

    init(id: MediaNodeID, configuration: MediaConfiguration, redis: RedisClient, logger: Logger) {
        self.id = id
        self.configuration = configuration
        self.redis = redis
        self.logger = logger
        list = MediaNodeList(connection: redis)
        let partition = redis.bus.partition(of: .mediaNode(id))
        outbox = MediaOutbox { publications in
            let commands = publications.map { asker, event in
                RedisCommand(
                    redis.bus.publishing, key: KeySpace.topic(asker, in: partition),
                    .bytes(GatewayEvent.media(event).payload)
                ).inSlot(partition.slot)
            }
            return await redis.execute(commands).count { if case .failure = $0 { true } else { false } }
        }
    }

    /// The node; nil while its socket is not open.
    var node: MediaNode? { open.withLock { $0?.node } }
    /// The UDP port in use; nil while the socket is not open.
    var port: Int? { open.withLock { $0?.transport.port } }

    /// Brings what the loop has counted into the metrics.
    func observe() async {
        guard let transport = open.withLock({ $0?.transport }), let counts = await transport.counts() else { return }
        counting.take(counts)
    }

    func run() async throws {
        let opened = try begin()
        let (node, transport) = (opened.node, opened.transport)
        await withTaskGroup { tasks in
            tasks.addTask { [outbox] in await outbox.run() }
            tasks.addTask { for await event in transport.events { await node.handle(event) } }
            let keys = Task { while await Task.pause(MediaNode.keyPause) { await node.checkKeys() } }
            let statistics = Task { while await Task.pause(MediaNode.statisticsPause) { await node.tellStatistics() } }
            // Cancellation is a shutdown too.
            try? await gracefulShutdown()
            keys.cancel()
            statistics.cancel()
            await drain(node)
            open.withLock { $0 = nil }
            await transport.stop()
            outbox.finish()
        }
    }

    private func begin() throws(MediaTransportError) -> Open {
        guard let address = NumericAddress(configuration.host) else {
            throw MediaTransportError(code: 0, act: "read the address \(configuration.host)")
        }
        let transport = try MediaTransport(
            MediaTransportSettings(
                address: address, port: UInt16(configuration.port), participants: configuration.bounds.participants,
                members: configuration.bounds.members, audioPackets: configuration.bounds.audioPackets))
        let planner = MediaPathPlanner(
            address: configuration.announcedHost, port: transport.port, fingerprint: transport.fingerprint,
            audioSlots: configuration.audioSlots)
        let node = MediaNode(
            bounds: configuration.bounds,
            MediaNode.Surroundings(
                paths: transport, planner: planner, publish: { [outbox] in outbox.add($0, $1) },
                clock: { [redis, slot = redis.bus.partition(of: .mediaNode(id)).slot] in
                    await redis.read { redis.clock(ofSlot: slot)?.now?.milliseconds }.map { $0 * 1000 }
                },
                boundHit: { [bounds = BoundLog(logger)] in bounds.hit($0, in: $1, now: .now) }))
        let opened = Open(transport: transport, node: node)
        open.withLock { $0 = opened }
        logger.notice(
            "listening for media",
            metadata: ["address": "\(configuration.host):\(transport.port)", "node": "\(id)"])
        return opened
    }

    /// Lists the node as one that takes no more, and ends its participants.
    private func drain(_ node: MediaNode) async {
        await node.startDraining()
        do {
            try await list.announce(id, MediaNodeRecord(load: await node.load, isDraining: true))
        } catch {
            // Joins are refused all the same.
            logger.warning("could not list the media node as draining", metadata: ["error": "\(error)"])
        }
        let count = await node.participants.count
        logger.notice("draining", metadata: ["participants": "\(count)"])
        await node.closeAll()
    }
}
