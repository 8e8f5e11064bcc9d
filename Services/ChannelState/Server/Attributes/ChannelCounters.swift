internal import ChannelStateLogic
internal import ClusterService
internal import Metrics
internal import RedisStore
internal import SignalingProtocol

/// Tells members the numbers that the system keeps, `_member_num` and `_total_member_num`.
///
/// Each counter of a channel has one timer at most, set by whatever changes the number and by a change of the settings. It
/// says only when to look; the function that looks tells atomically, so a timer that fires twice tells once.
struct ChannelCounters: Sendable {
    let functions: ChannelFunctions
    let timers: ServiceTimers<ChannelTimer>

    /// Sets the timers, for a pipeline of the caller's; nothing when no counter is on.
    func scheduling(_ telling: ChannelFunctions.Telling, _ channel: ChannelKey) -> [RedisCommand] {
        telling.map { counter, due in
            timers.setting(.counter(counter, channel), at: due)
        }
    }

    /// Sets the timers by what was not told yet: the intervals have changed.
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
