import Testing

@testable import ServiceMetrics

@Suite("Metrics as Prometheus text")
struct MetricRegistryTests {
    private let registry = MetricRegistry()

    private enum Colour: String, CaseIterable, Sendable {
        case red
        case green
    }

    private var lines: [String] { registry.text().split(separator: "\n").map(String.init) }

    @Test("A counter is shown with 0 from its declaration on, with its description")
    func present() {
        let counter = Counter("acts_total", "Acts of\nall \\ kinds.", in: registry)
        #expect(lines == [#"# HELP acts_total Acts of\nall \\ kinds."#, "# TYPE acts_total counter", "acts_total 0"])
        counter.increment()
        counter.increment(by: 2)
        #expect(lines.last == "acts_total 3")
    }

    @Test("A metric declared twice is one series; labels tell series apart, in the order of their names")
    func sharing() {
        for _ in 0..<2 {
            Counter("acts_total", "Acts.", labels: ["b": "1", "a": "x\"\n\\"], in: registry).increment()
        }
        Counter("acts_total", "Acts.", labels: ["a": "y", "b": "1"], in: registry).increment()
        #expect(lines.suffix(2) == [#"acts_total{a="x\"\n\\",b="1"} 2"#, #"acts_total{a="y",b="1"} 1"#])
    }

    @Test("Counters by a label are all shown from the start")
    func sets() {
        let plain = CounterSet<Colour>("drawn_total", "Drawn.", label: "colour", in: registry)
        let other = CounterSet<Colour>("seen_total", "Seen.", label: "colour", and: ("eye", "left"), in: registry)
        plain.increment(.green, by: 4)
        other.increment(.red)
        let values = lines.filter { !$0.hasPrefix("#") }
        #expect(
            values == [
                #"drawn_total{colour="green"} 4"#, #"drawn_total{colour="red"} 0"#,
                #"seen_total{colour="green",eye="left"} 0"#, #"seen_total{colour="red",eye="left"} 1"#,
            ])
    }

    @Test("Gauges take the last value")
    func gauges() {
        let gauge = Gauge("load", "Load.", in: registry)
        #expect(lines.last == "load 0")
        gauge.set(0.25)
        #expect(lines.last == "load 0.25")
        gauge.set(7)
        #expect(lines.last == "load 7")
        gauge.set(true)
        #expect(lines.last == "load 1")
    }

    @Test("Gauges of things that come and go: those that are gone are not shown")
    func maps() {
        let map = GaugeMap("up", "Up.", label: "server", in: registry)
        map.replace(["b:1": 1, "a:1": 0])
        #expect(lines.suffix(2) == [#"up{server="a:1"} 0"#, #"up{server="b:1"} 1"#])
        map.replace(["b:1": 1])
        #expect(lines.count == 3)
    }

    @Test("A histogram counts values in the first bucket that holds them and in all above")
    func histograms() {
        let histogram = Histogram("call_seconds", "Calls.", labels: ["op": "join"], in: registry)
        histogram.record(.milliseconds(5))
        histogram.record(nanoseconds: 5_000_001)
        histogram.record(.seconds(60))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="0.0025"} 0"#))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="0.005"} 1"#))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="0.01"} 2"#))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="10"} 2"#))
        #expect(lines.contains(#"call_seconds_bucket{op="join",le="+Inf"} 3"#))
        #expect(lines.contains(#"call_seconds_sum{op="join"} 60.010000001"#))
        #expect(lines.contains(#"call_seconds_count{op="join"} 3"#))
    }

    @Test("A histogram takes what was counted elsewhere by the same buckets")
    func countedElsewhere() {
        let histogram = Histogram("packet_seconds", "Packets.", .packets, in: registry)
        histogram.add([1] + [Int](repeating: 0, count: 9) + [3, 2], sum: 0.5)
        histogram.add([1] + [Int](repeating: 0, count: 11), sum: 0.25)
        #expect(lines.contains(#"packet_seconds_bucket{le="5e-05"} 2"#))
        #expect(lines.contains(#"packet_seconds_bucket{le="0.05"} 2"#))
        #expect(lines.contains(#"packet_seconds_bucket{le="0.1"} 5"#))
        #expect(lines.contains(#"packet_seconds_bucket{le="+Inf"} 7"#))
        #expect(lines.contains("packet_seconds_sum 0.75") && lines.contains("packet_seconds_count 7"))
    }

    @Test("Values that are asked for when they are shown; without a value there is no line")
    func observed() {
        registry.observe(.gauge, "half", "Half.") { 0.5 }
        registry.observe(.gauge, "none", "None.") { nil }
        #expect(lines.contains("half 0.5"))
        #expect(lines.contains("# TYPE none gauge"))
        #expect(!lines.contains { $0.hasPrefix("none") })
    }

    @Test("A name that breaks Prometheus' conventions, or is used for two things, ends the process")
    func conventions() async {
        await #expect(processExitsWith: .failure) { _ = Counter("acts", "A counter without its ending.") }
        await #expect(processExitsWith: .failure) { _ = Gauge("acts_total", "A gauge with a counter's ending.") }
        await #expect(processExitsWith: .failure) { _ = Histogram("calls", "A histogram without its unit.") }
        await #expect(processExitsWith: .failure) { _ = Gauge("Acts", "A name with a capital letter.") }
        await #expect(processExitsWith: .failure) { _ = Gauge("acts", "A description that is no sentence") }
        await #expect(processExitsWith: .failure) {
            _ = Gauge("acts", "One thing.")
            _ = Gauge("acts", "Another thing.")
        }
        await #expect(processExitsWith: .success) { _ = Gauge("acts", "One thing.") }
    }

    @Test("Numbers as Prometheus writes them")
    func numbers() {
        #expect(MetricText.number(.infinity) == "+Inf")
        #expect(MetricText.number(-.infinity) == "-Inf")
        #expect(MetricText.number(.nan) == "NaN")
        #expect(MetricText.number(2) == "2")
        #expect(MetricText.number(0.1) == "0.1")
    }
}
