internal import ChannelStateLogic
internal import ClusterState
internal import RedisStore
internal import SignalingProtocol

/// The counters of channels.
extension ChannelFunctions {
    /// When each counter must be announced; without counters that are off or have not changed.
    typealias CounterDueTimes = [ChannelCounter: RedisTime]

    /// Parses the times of `num` and `total`; 0 means never.
    static func countersDue(_ texts: some Collection<String>) throws(SignalingError) -> CounterDueTimes {
        let order: [ChannelCounter] = [.members, .total]
        var countersDue: CounterDueTimes = [:]
        for (counter, text) in zip(order, texts) {
            guard let due = RedisTime(text: text) else { throw .unreadableAnswer }
            if due.milliseconds > 0 { countersDue[counter] = due }
        }
        return countersDue
    }

    /// The counters that have yet to be announced.
    func counters(_ channel: ChannelKey) async throws(SignalingError) -> CounterDueTimes {
        try Self.countersDue(
            try await redis.answer(to: .function("channel_counters", tag: KeySpace.tag(channel))).texts)
    }

    /// The result of ``announce(_:_:)``.
    enum CounterAnnouncement: Equatable {
        /// The counter was announced.
        case announced
        /// Too early; check again at this time.
        case wait(until: RedisTime)
        /// There was nothing to announce: the counter has not changed or is off, or the channel is empty.
        case nothing
    }

    /// Announces a counter, if it has changed and it is time.
    func announce(_ counter: ChannelCounter, _ channel: ChannelKey) async throws(SignalingError) -> CounterAnnouncement
    {
        let texts = try await redis.answer(
            to: .function("channel_counter_tell", tag: KeySpace.tag(channel), .string(counter.rawValue))
        ).texts
        switch texts.first {
        case "told": return .announced
        case "wait":
            guard texts.count == 2, let until = RedisTime(text: texts[1]) else { throw .unreadableAnswer }
            return .wait(until: until)
        default: return .nothing
        }
    }
}
