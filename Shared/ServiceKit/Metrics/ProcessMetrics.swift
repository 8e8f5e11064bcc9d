internal import ServiceMetrics

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Metrics of the process itself, under the names that Prometheus' client libraries use.
enum ProcessMetrics {
    /// Declares them. To be called once, when the process starts.
    static func declare(in registry: MetricRegistry = .process) {
        let start = Double(WallClock.seconds)
        registry.observe(.gauge, "process_start_time_seconds", "When the process began, in seconds since 1970.") {
            start
        }
        registry.observe(.counter, "process_cpu_seconds_total", "CPU time that the process has used.") { cpuSeconds() }
        registry.observe(.gauge, "process_resident_memory_bytes", "Memory of the process that is in RAM.") {
            memory().map { Double($0.resident) }
        }
        registry.observe(.gauge, "process_virtual_memory_bytes", "Address space of the process.") {
            memory().map { Double($0.virtual) }
        }
        registry.observe(.gauge, "process_open_fds", "Files and sockets that the process has open.") {
            openDescriptors().map(Double.init)
        }
        registry.observe(.gauge, "process_max_fds", "How many files and sockets the process may have open.") {
            descriptorLimit()
        }
    }

    private static func cpuSeconds() -> Double? {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return nil }
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        return seconds + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
    }

    /// The first two fields of `statm`, which are pages; nil where that file does not exist.
    private static func memory() -> (virtual: Int, resident: Int)? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        let fields = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let virtual = Int(fields[0]), let resident = Int(fields[1]) else { return nil }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (virtual * page, resident * page)
    }

    private static func openDescriptors() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of the open folder itself.
        return max(0, count - 3)
    }

    private static func descriptorLimit() -> Double? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return limit.rlim_cur == .max ? .infinity : Double(limit.rlim_cur)
    }
}
