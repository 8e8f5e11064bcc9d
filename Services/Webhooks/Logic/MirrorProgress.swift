internal import Pacing

/// Up to which time all events are in the queue.
///
/// Events come from the services' mirror streams, each at its own pace. Whatever a stream has not passed on yet is not
/// older than its first entry; so nothing older than the first entries of all streams is missing.
package enum MirrorProgress {
    /// - Parameters:
    ///   - now: the time of a server, in milliseconds of its clock.
    ///   - first: the ids of its streams' first entries, such as `1795247975116-0`; nil for an empty stream.
    ///   - settling: how long a service may take from a change to its entry.
    /// - Returns: in microseconds of Redis' clock.
    package static func horizon(now: Int64, first: [String?], settling: Duration) -> Int64 {
        let times = first.compactMap { id in id.flatMap { Int64($0.prefix { $0 != "-" }) } }
        return (min(now, times.min() ?? now) - settling.wholeMilliseconds) * 1000
    }
}
