import NIOCore
import NIOPosix
import ServiceMetrics
import Testing

@testable import ServiceKit

@Suite("Metrics of the process itself")
struct ProcessMetricsTests {
    @Test("All have values; the start is in the past, and the limits are above what is used")
    func process() {
        let registry = MetricRegistry()
        ProcessMetrics.declare(in: registry)
        var values: [String: Double] = [:]
        for line in registry.text().split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            values[String(words[0])] = Double(words[1])
        }
        #expect(values.count == 6)
        #expect(values.values.allSatisfy { $0 > 0 })
        #expect(values["process_start_time_seconds"] ?? 0 > 1_700_000_000)
        #expect(values["process_open_fds"] ?? 1 < values["process_max_fds"] ?? 0)
        #expect(values["process_resident_memory_bytes"] ?? 1 < values["process_virtual_memory_bytes"] ?? 0)
    }

    @Test("A loop that is held for a while is late", .timeLimit(.minutes(1)))
    func lag() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        EventLoopLag.watch(group, every: .milliseconds(250))
        let loop = group.next()
        // Each time the loop is held for longer than the pause between two measurements.
        while lateMeasurements == 0 {
            try await loop.submit {
                let end = ContinuousClock.now + .milliseconds(400)
                while ContinuousClock.now < end {}
            }.get()
        }
        try await group.shutdownGracefully()
    }

    /// How many measurements of this process were more than 100 ms late.
    private var lateMeasurements: Int {
        func count(_ bound: String) -> Int {
            let prefix = "heliograph_event_loop_lag_seconds_bucket{le=\"\(bound)\"} "
            let line = MetricRegistry.process.text().split(separator: "\n").first { $0.hasPrefix(prefix) }
            return line.flatMap { Int($0.dropFirst(prefix.utf8.count)) } ?? 0
        }
        return count("+Inf") - count("0.1")
    }
}
