internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// The counters of channels.
extension ChannelFunctions {
    /// When each counter must be announced; without counters that are off or have not changed.
    typealias CounterDueTimes = [ChannelCounter: RedisTime]

    /// The counters whose time is not 0, which means never.
    static func countersDue(members: RedisTime, total: RedisTime? = nil) -> CounterDueTimes {
        var countersDue: CounterDueTimes = [:]
        if members.milliseconds > 0 { countersDue[.members] = members }
        if let total, total.milliseconds > 0 { countersDue[.total] = total }
        return countersDue
    }

    /// The counters that have yet to be announced.
    func counters(_ channel: ChannelKey) async throws(SignalingError) -> CounterDueTimes {
        var parts = try FunctionReply(
            try await redis.answer(to: .function("channel_counters", tag: KeySpace.tag(channel))))
        return Self.countersDue(members: try parts.time(), total: try parts.time())
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
        var parts = try FunctionReply(
            try await redis.answer(
                to: .function("channel_counter_tell", tag: KeySpace.tag(channel), .string(counter.rawValue))))
        switch try parts.text() {
        case "told": return .announced
        case "wait": return .wait(until: try parts.time())
        default: return .nothing
        }
    }
}
