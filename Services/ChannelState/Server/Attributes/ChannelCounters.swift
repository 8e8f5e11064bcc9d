internal import ChannelStateLogic
internal import ClusterService
internal import Metrics
internal import RedisStore
internal import SignalingProtocol

/// Tells members the numbers that the system keeps, `_member_num` and `_total_member_num`.
///
/// Each counter of a channel has at most one timer, set by every change of the number and of the settings. The timer says only
/// when to look; the Redis Function that looks also tells, in one step, so a timer that fires twice tells once.
struct ChannelCounters: Sendable {
    let functions: ChannelFunctions
    let timers: ServiceTimers<ChannelTimer>

    /// Sets the timers, for a pipeline of the caller's; nothing when no counter is on.
    func scheduling(_ telling: ChannelFunctions.Telling, _ channel: ChannelKey) -> [RedisCommand] {
        telling.map { counter, due in
            timers.setting(.counter(counter, channel), at: due)
        }
    }

    /// The intervals have changed: sets the timers of numbers that are not told yet.
    func settingsChanged(_ channel: ChannelKey) async throws(SignalingError) {
        let commands = scheduling(try await functions.counters(channel), channel)
        if !commands.isEmpty { _ = try await functions.redis.answers(to: commands) }
    }

    /// A timer fired.
    func fired(_ counter: ChannelCounter, _ channel: ChannelKey) async throws {
        switch try await functions.tell(counter, channel) {
        case .told: ChannelMetrics.numbersTold.increment()
        case .wait(let until):
            try await timers.set(.counter(counter, channel), at: until)
        case .nothing: break
        }
    }
}
