internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterService
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Announces the counters `_member_num` and `_total_member_num` to channels' members.
///
/// Each counter of a channel has at most one timer, set by every change of the counter and of its interval. The timer
/// only tells when to check. The Redis Function that checks also announces, in one step, so a timer that fires twice
/// announces once.
struct ChannelCounters: Sendable {
    let functions: ChannelFunctions
    let timers: ServiceTimers<ChannelTimer>

    /// The commands that set the timers, for the caller to send in a pipeline; none when no counter is on.
    func scheduling(_ countersDue: ChannelFunctions.CounterDueTimes, _ channel: ChannelKey) -> [RedisCommand] {
        countersDue.map { counter, due in
            timers.setting(.counter(counter, channel), at: due)
        }
    }

    /// Sets the timers of counters that have yet to be announced; called when their intervals have changed.
    func settingsChanged(_ channel: ChannelKey) async throws(SignalingError) {
        let commands = scheduling(try await functions.counters(channel), channel)
        if !commands.isEmpty { _ = try await functions.redis.answers(to: commands) }
    }

    /// Announces a counter, if it is time; called when its timer fires.
    func fired(_ counter: ChannelCounter, _ channel: ChannelKey) async throws {
        switch try await functions.announce(counter, channel) {
        case .announced: ChannelMetrics.shared.numbersTold.increment()
        case .wait(let until):
            try await timers.set(.counter(counter, channel), at: until)
        case .nothing: break
        }
    }
}
