#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The system's time of day, for what clients and the servers of apps compare with their own: the expiry of tokens and
/// the time of messages. Everything else goes by Redis' clock or the local one.
package enum WallClock {
    /// Seconds since 1970.
    package static var seconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }

    /// Milliseconds since 1970.
    package static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
