internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import Logging
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Ends channels that Redis lost after their last member had left: PostgreSQL still has their attributes, but no timer
/// would end them. One instance of the service checks at a time, once a minute.
struct ChannelSurvey: Sendable {
    /// The number of channels read at a time.
    private static let page = 200
    /// How long after the start of a survey no other instance starts one.
    private static let interval = Duration.seconds(55)

    let functions: ChannelFunctions
    let store: AttributeStore
    let cache: ChannelAttributeCache
    let timers: ServiceTimers<ChannelTimer>
    let logger: Logger

    func run() async throws {
        let lock = RoundLock(key: KeySpace.channelSurvey, timeToLive: Self.interval, connection: functions.redis)
        guard try await lock.take() else { return }
        try await store.forgetJoined()
        var last: ChannelKey?
        while !Task.isCancelled {
            let channels = try await store.attributedChannels(after: last, limit: Self.page)
            try await check(channels)
            guard channels.count == Self.page else { return }
            last = channels.last?.channel
        }
    }

    private func check(_ channels: [AttributedChannel]) async throws {
        let joins = try await functions.redis.answers(
            to: channels.map { RedisCommand("HEXISTS", key: ChannelKeys($0.channel).state, "joins") })
        var joined: [ChannelKey] = []
        for (found, isKnown) in zip(channels, joins.map({ $0.int == 1 })) {
            if isKnown, !found.wasJoined { joined.append(found.channel) }
            if !isKnown, found.wasJoined { try await restoreAsEmpty(found.channel) }
        }
        try await store.noteJoined(joined)
    }

    /// Lets the channel's time to live begin now, because Redis has lost when its last member left.
    private func restoreAsEmpty(_ channel: ChannelKey) async throws {
        // The time to live is one of the attributes.
        try await cache.load(channel, account: try Account("system"), uid: 0)
        guard try await functions.restoreAsEmpty(channel) else { return }
        ChannelMetrics.shared.adopted.increment()
        logger.notice(
            "restored a channel that Redis had lost; its time to live begins now",
            metadata: ["app": "\(channel.app)", "channel": "\(channel.name)"])
        try await timers.set(.expiry(channel), after: .zero)
    }
}
