package import ClusterState
internal import Synchronization

/// Redis' clock as last heard, carried on by our own steady one. It runs behind Redis' by what answers to TIME take at
/// most, and never ahead by more than the two drift apart: what is measured by it ends too early rather than too late.
///
/// When Redis' clock is set, this one follows with the next answer. Until then deadlines that were given before a step
/// forward end early, by the step, and those before a step back late.
package final class RedisClock: Sendable {
    private static let start = ContinuousClock.now

    /// Microseconds that Redis' clock is ahead of our own, which counts from `start`; nil before the first answer.
    private let offset = Mutex<Int64?>(nil)

    init() {}

    /// Takes the answer to TIME.
    ///
    /// Redis' time was that at some moment between question and answer, so the offset lies between two bounds. One that was
    /// known before and agrees with them is as good as the better of both: an answer that waited long to be read (this
    /// process was stopped) makes nothing worse.
    /// - Parameter asked: when the question was sent; nil for just now.
    func set(
        _ reply: RedisValue, askedAt asked: ContinuousClock.Instant? = nil,
        heardAt heard: ContinuousClock.Instant = .now
    ) {
        guard let parts = reply.array, parts.count == 2, let seconds = parts[0].int, let micros = parts[1].int else {
            return
        }
        let time = seconds * 1_000_000 + micros
        let least = time - Self.microseconds(heard)
        let most = time - Self.microseconds(min(asked ?? heard, heard))
        offset.withLock { offset in
            if let known = offset, known <= most { offset = max(known, least) } else { offset = least }
        }
    }

    /// Redis' time now; nil before the first answer.
    package var now: RedisTime? { time(at: .now) }

    /// Redis' time at a moment of ours; nil before the first answer.
    func time(at instant: ContinuousClock.Instant) -> RedisTime? {
        offset.withLock { $0.map { RedisTime(milliseconds: ($0 + Self.microseconds(instant)) / 1000) } }
    }

    private static func microseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        Int64(start.duration(to: instant) / .microseconds(1))
    }
}
