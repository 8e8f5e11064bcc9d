package import SignalingProtocol
internal import Synchronization

/// An estimate of Redis' clock: the time it last told, advanced by this process's monotonic clock. The estimate is
/// behind Redis' clock by at most the round trip of TIME, and ahead by no more than the drift between the two clocks: a
/// deadline derived from it comes too early rather than too late.
///
/// When Redis' clock is set, the estimate follows at the next reply to TIME. Until then, deadlines computed before the
/// step are wrong by the step: after a step forward they expire early, after a step back late.
package final class RedisClock: Sendable {
    private static let start = ContinuousClock.now

    /// Redis' time in microseconds minus our own, which counts from `start`; nil before the first reply.
    private let offset = Mutex<Int64?>(nil)

    package init() {}

    /// Takes a reply to TIME.
    ///
    /// Redis read its clock at some moment between request and reply, which bounds the offset on both sides. A known
    /// offset below the upper bound is kept, and raised to the lower bound if it was less. So a reply that was read
    /// late, because this process was suspended, does not make the estimate worse.
    /// - Parameter asked: when the request was sent; nil for just now.
    package func set(
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

    /// The estimate of Redis' time now; nil before the first reply.
    package var now: RedisTime? { time(at: .now) }

    /// The estimate of Redis' time at a moment of the local clock; nil before the first reply.
    package func time(at instant: ContinuousClock.Instant) -> RedisTime? {
        offset.withLock { $0.map { RedisTime(milliseconds: ($0 + Self.microseconds(instant)) / 1000) } }
    }

    private static func microseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        Int64(start.duration(to: instant) / .microseconds(1))
    }
}
