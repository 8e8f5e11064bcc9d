extension Duration {
    /// The whole milliseconds of the duration, as Redis and its functions count time; fractions are dropped.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
