package import GatewayAPIServer
internal import NIOCore
internal import NIOHTTP1
internal import ServiceKit
internal import ServiceMetrics
internal import Synchronization

/// The server API, which sends its commands and messages through the shards.
extension GatewayService {
    /// How often to look whether the shards accept clients.
    private static let readinessPause = Duration.milliseconds(50)

    /// The server API; nil when it is off. A service of its own: started after the gateway, it is shut down before it,
    /// while the shards still answer.
    package var api: APIService? {
        configuration.api.map { settings in
            let limiter = shards[0].addressLimiter
            let gateway = APIService.Gateway(
                addressKey: { limiter.key(of: $0).map { "\($0)" } },
                discovery: { [discovery] target in
                    let answer = await discovery.answer(to: target)
                    return DiscoveryAnswer(status: Int(answer.status.code), body: answer.body)
                },
                metrics: {
                    await self.observe()
                    return MetricRegistry.process.text()
                },
                shards: { try await self.readyShards() })
            return APIService(
                configuration: settings, eventLoops: configuration.eventLoops, logger: logger, gateway: gateway)
        }
    }

    /// Waits until all shards accept clients: before, no answers would reach them.
    private func readyShards() async throws -> [APIShard] {
        var ready: [APIShard] = []
        for shard in shards {
            while !shard.acceptsClients.load(ordering: .acquiring) { try await Task.sleep(for: Self.readinessPause) }
            ready.append(await shard.api)
        }
        return ready
    }
}

extension GatewayShard {
    /// The shard as the server API uses it.
    fileprivate var api: APIShard {
        let usage = NIOLoopBound(usage, eventLoop: eventLoop)
        return APIShard(
            gateway: id, sender: sender, messages: messages, mailboxes: NIOLoopBound(mailboxes, eventLoop: eventLoop),
            redis: redis, longestMessageSeconds: environment.longestMessageSeconds,
            onSent: { usage.value.sent(in: $0) })
    }
}
