internal import Metrics
internal import Synchronization

/// One exposed time series: a line of text, or the lines of a histogram.
protocol PrometheusSeries: AnyObject, Sendable {
    func append(name: String, labels: String, to text: inout String)
}

/// A counter of whole numbers. Needs no lock, because it is increased for every message.
final class PrometheusCounter: CounterHandler, PrometheusSeries {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { value.store(0, ordering: .relaxed) }

    func append(name: String, labels: String, to text: inout String) {
        text += "\(name)\(labels) \(value.load(ordering: .relaxed))\n"
    }
}

/// A gauge. Also serves as a floating-point counter, which is a gauge that only increases.
final class PrometheusGauge: MeterHandler, RecorderHandler, FloatingPointCounterHandler, PrometheusSeries {
    private let value = Mutex(0.0)

    func set(_ new: Int64) { set(Double(new)) }
    func set(_ new: Double) { value.withLock { $0 = new } }
    func record(_ new: Int64) { set(Double(new)) }
    func record(_ new: Double) { set(new) }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func reset() { set(0.0) }

    func append(name: String, labels: String, to text: inout String) {
        text += "\(name)\(labels) \(PrometheusText.number(value.withLock { $0 }))\n"
    }
}

/// A histogram: counts values in buckets with upper bounds.
final class PrometheusHistogram: TimerHandler, RecorderHandler, PrometheusSeries {
    /// Bounds for timers: 100 microseconds to 10 seconds.
    static let seconds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// Bounds for other values, such as batch sizes and bytes.
    static let values: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000]

    private struct State {
        /// One count per bucket; the last is for values above all bounds.
        var counts: [Int64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func append(name: String, labels: String, to text: inout String) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        var total: Int64 = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? PrometheusText.number(bounds[index]) : "+Inf"
            text += "\(name)_bucket\(PrometheusText.adding("le", bound, to: labels)) \(total)\n"
        }
        text += "\(name)_sum\(labels) \(PrometheusText.number(sum))\n\(name)_count\(labels) \(total)\n"
    }
}
