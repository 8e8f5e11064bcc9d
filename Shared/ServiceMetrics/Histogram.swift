internal import Synchronization

/// Counts values by size, so that percentiles can be computed over all processes.
package struct Histogram: Sendable {
    /// Upper bounds of the sizes that are told apart.
    package enum Buckets: Sendable {
        /// For waits that users notice: 100 microseconds to 10 seconds.
        case latencies
        /// For what should take next to nothing: 10 microseconds to 10 seconds, ten times as much each.
        case decades
        /// For what is done with each packet: 50 microseconds to 0.1 seconds.
        case packets

        fileprivate var bounds: [Double] {
            switch self {
            case .latencies:
                [
                    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
                ]
            case .decades: [0.000_01, 0.000_1, 0.001, 0.01, 0.1, 1, 10]
            case .packets: [0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]
            }
        }
    }

    private let series: HistogramSeries

    /// Declares a histogram of seconds.
    /// - Parameters:
    ///   - name: ends in `_seconds`.
    ///   - help: one sentence for operators.
    ///   - labels: tell series of the same name apart.
    package init(
        _ name: String, _ help: String, _ buckets: Buckets = .latencies, labels: KeyValuePairs<String, String> = [:],
        in registry: MetricRegistry = .process
    ) {
        precondition(name.hasSuffix("_seconds"), "\(name): histograms count seconds")
        series = registry.series(MetricDescription(name, help, .histogram), labels) {
            HistogramSeries(bounds: buckets.bounds)
        }
    }

    /// Counts a time span in nanoseconds. May be called from any thread.
    package func record(nanoseconds: Int64) { series.record(Double(nanoseconds) / 1_000_000_000) }

    /// Counts a time span. May be called from any thread.
    package func record(_ span: Duration) {
        let (seconds, attoseconds) = span.components
        series.record(Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// Adds what was counted elsewhere.
    /// - Parameters:
    ///   - counts: one number for each bucket, and a last one for values above all bounds.
    ///   - sum: of the values, in seconds.
    package func add(_ counts: [Int], sum: Double) { series.add(counts, sum) }
}

/// Histograms of one name, one for each value of a label; all are shown from the start.
package struct HistogramSet<Value: RawRepresentable<String> & CaseIterable & Hashable & Sendable>: Sendable {
    private let histograms: [Value: Histogram]

    /// Declares the histograms.
    /// - Parameter label: the label whose values are those of `Value`.
    package init(
        _ name: String, _ help: String, _ buckets: Histogram.Buckets = .latencies, label: String,
        in registry: MetricRegistry = .process
    ) {
        histograms = Dictionary(
            uniqueKeysWithValues: Value.allCases.map {
                ($0, Histogram(name, help, buckets, labels: [label: $0.rawValue], in: registry))
            })
    }

    /// The histogram with this value of the label, to be kept by whoever counts often.
    package subscript(_ value: Value) -> Histogram? { histograms[value] }
}

private final class HistogramSeries: MetricSeries {
    private struct State {
        /// One count per bucket; the last is for values above all bounds.
        var counts: [Int]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Double) {
        var bucket = 0
        while bucket < bounds.count, bounds[bucket] < value { bucket += 1 }
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func add(_ counts: [Int], _ sum: Double) {
        precondition(counts.count == bounds.count + 1, "other buckets than those of the histogram")
        state.withLock { state in
            for (bucket, count) in counts.enumerated() { state.counts[bucket] += count }
            state.sum += sum
        }
    }

    func append(name: String, labels: String, to text: inout String) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        var total = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? MetricText.number(bounds[index]) : "+Inf"
            text += "\(name)_bucket\(MetricText.adding("le", bound, to: labels)) \(total)\n"
        }
        text += "\(name)_sum\(labels) \(MetricText.number(sum))\n\(name)_count\(labels) \(total)\n"
    }
}
