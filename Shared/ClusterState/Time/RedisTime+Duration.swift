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

extension Duration {
    /// The whole milliseconds of the duration, as Redis and its functions count time; fractions are dropped.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
