internal import Pacing
package import SignalingProtocol

extension RedisTime {
    /// A later moment; fractions of a millisecond are dropped.
    package static func + (time: RedisTime, span: Duration) -> RedisTime {
        RedisTime(milliseconds: time.milliseconds + span.wholeMilliseconds)
    }

    /// The time span from `right` to `left`.
    package static func - (left: RedisTime, right: RedisTime) -> Duration {
        .milliseconds(left.milliseconds - right.milliseconds)
    }
}
