internal import ChannelStateLogic
internal import ClusterState
internal import RedisStore
internal import SignalingProtocol

/// The counters of channels.
extension ChannelFunctions {
    /// When each counter must be announced ; without counters that are off or have not changed.
    typealias Telling = [ChannelCounter: RedisTime]

    /// Parses the times of `num` and `total`; 0 means never.
    static func telling(_ texts: some Collection<String>) throws(SignalingError) -> Telling {
        let order: [ChannelCounter] = [.members, .total]
        var telling: Telling = [:]
        for (counter, text) in zip(order, texts) {
            guard let due = RedisTime(text: text) else { throw .unreadableAnswer }
            if due.milliseconds > 0 { telling[counter] = due }
        }
        return telling
    }

    /// The counters that have yet to be announced.
    func counters(_ channel: ChannelKey) async throws(SignalingError) -> Telling {
        try Self.telling(try await redis.answer(to: .function("channel_counters", tag: KeySpace.tag(channel))).texts)
    }

    enum Told: Equatable {
        /// The counter was announced.
        case told
        /// Too early; check again at this time.
        case wait(until: RedisTime)
        /// There was nothing to announce: the counter has not changed or is off, or the channel is empty.
        case nothing
    }

    /// Announces a counter, if it has changed and it is time.
    func tell(_ counter: ChannelCounter, _ channel: ChannelKey) async throws(SignalingError) -> Told {
        let texts = try await redis.answer(
            to: .function("channel_counter_tell", tag: KeySpace.tag(channel), .string(counter.rawValue))
        ).texts
        switch texts.first {
        case "told": return .told
        case "wait":
            guard texts.count == 2, let until = RedisTime(text: texts[1]) else { throw .unreadableAnswer }
            return .wait(until: until)
        default: return .nothing
        }
    }
}
