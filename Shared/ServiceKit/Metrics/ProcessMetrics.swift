#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Metrics of the process itself (CPU, memory, descriptors), under the names that Prometheus' client libraries use.
enum ProcessMetrics {
    static func append(to text: inout String) {
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            let micros = Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
            line("process_cpu_seconds_total", "counter", seconds + micros / 1_000_000, to: &text)
        }
        if let resident = residentBytes() {
            line("process_resident_memory_bytes", "gauge", Double(resident), to: &text)
        }
        if let descriptors = openDescriptors() {
            line("process_open_fds", "gauge", Double(descriptors), to: &text)
        }
    }

    private static func line(_ name: String, _ kind: String, _ value: Double, to text: inout String) {
        text += "# TYPE \(name) \(kind)\n\(name) \(PrometheusText.number(value))\n"
    }

    /// The resident memory, from the second field of `statm` (pages); nil where that file does not exist.
    private static func residentBytes() -> Int? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        let fields = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }

    private static func openDescriptors() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of the open folder itself.
        return max(0, count - 3)
    }
}
