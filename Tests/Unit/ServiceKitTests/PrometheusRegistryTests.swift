import Metrics
import Testing

@testable import ServiceKit

@Suite("Prometheus metrics")
struct PrometheusRegistryTests {
    let registry = PrometheusRegistry()

    private var lines: [String] { registry.text().split(separator: "\n").map(String.init) }

    @Test("A counter made twice is one series")
    func counters() {
        for _ in 0..<2 {
            Counter(label: "app.requests", dimensions: [("b", "1"), ("a", "x\"\n\\")], factory: registry).increment()
        }
        Counter(label: "done_total", factory: registry).increment(by: 3)
        FloatingPointCounter(label: "seconds", factory: registry).increment(by: 1.5)
        #expect(lines.contains("# TYPE app_requests_total counter"))
        #expect(lines.contains(#"app_requests_total{a="x\"\n\\",b="1"} 2"#))
        #expect(lines.contains("done_total 3"))
        #expect(lines.contains("seconds_total 1.5"))
    }

    @Test("Gauges go up and down")
    func gauges() {
        let meter = Meter(label: "members", factory: registry)
        meter.increment(by: 5)
        meter.decrement(by: 2)
        Gauge(label: "load", factory: registry).record(0.25)
        #expect(lines.contains("members 3"))
        #expect(lines.contains("# TYPE members gauge"))
        #expect(lines.contains("load 0.25"))
    }

    @Test("Timers are histograms in seconds")
    func timers() {
        let timer = Timer(label: "call", dimensions: [("op", "join")], factory: registry)
        timer.recordMilliseconds(3)
        timer.recordSeconds(60)
        #expect(lines.contains("# TYPE call_seconds histogram"))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="0.0025"} 0"#))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="0.005"} 1"#))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="10"} 1"#))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="+Inf"} 2"#))
        #expect(lines.contains(#"call_seconds_sum{op="join"} 60.003"#))
        #expect(lines.contains(#"call_seconds_count{op="join"} 2"#))
    }

    @Test("A name used for two kinds and series beyond the bound are refused and counted")
    func refusals() {
        Counter(label: "x_total", factory: registry).increment()
        Meter(label: "x_total", factory: registry).set(9)
        #expect(lines.contains("x_total 1"))
        #expect(lines.contains("heliograph_metrics_refused_total 1"))
        for index in 0...PrometheusRegistry.seriesBound {
            Counter(label: "many", dimensions: [("i", String(index))], factory: registry).increment()
        }
        #expect(lines.contains("heliograph_metrics_refused_total 3"))
        #expect(lines.filter { $0.hasPrefix("many") }.count == PrometheusRegistry.seriesBound - 1)
    }

    @Test("A destroyed metric is no longer shown")
    func destruction() {
        let counter = Counter(label: "gone", factory: registry)
        counter.increment()
        counter.destroy()
        #expect(!lines.contains { $0.hasPrefix("gone_total") })
    }

    @Test("Metrics of the process itself")
    func process() {
        for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"] {
            let value = lines.first { $0.hasPrefix("\(name) ") }?.split(separator: " ").last.flatMap { Double($0) }
            #expect((value ?? 0) > 0, "\(name)")
        }
    }

    @Test(
        "Names are turned into valid Prometheus names",
        arguments: [("a.b-c", "a_b_c"), ("9x", "_9x"), ("", "_"), ("ok:1", "ok:1")])
    func names(label: String, name: String) {
        #expect(PrometheusText.name(label) == name)
        #expect(PrometheusText.number(.infinity) == "+Inf")
        #expect(PrometheusText.number(2) == "2")
    }
}
