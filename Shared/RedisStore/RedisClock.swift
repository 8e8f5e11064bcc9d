internal import Synchronization

/// Redis' clock as last heard, carried on by our own steady one. It never runs ahead of Redis' by more than the two drift
/// apart, because it is set to a time that was already past when it came: nothing is dropped too early.
final class RedisClock: Sendable {
    private let heard = Mutex<(milliseconds: Int64, at: ContinuousClock.Instant)?>(nil)

    /// Takes the answer to TIME.
    func set(_ reply: RedisValue) {
        guard let parts = reply.array, parts.count == 2, let seconds = parts[0].int, let micros = parts[1].int else {
            return
        }
        heard.withLock { $0 = (seconds * 1000 + micros / 1000, .now) }
    }

    /// Milliseconds; nil before the first answer.
    var now: Int64? {
        heard.withLock { heard in
            heard.map { $0.milliseconds + Int64(($0.at.duration(to: .now)) / .milliseconds(1)) }
        }
    }
}
