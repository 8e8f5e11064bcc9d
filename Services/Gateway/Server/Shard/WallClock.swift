#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The system's time of day, compared with expiries that Redis has set.
enum WallClock {
    /// Milliseconds since 1970.
    static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
