internal import Synchronization

/// A number that grows and shrinks, such as the length of a queue.
package struct Gauge: Sendable {
    private let series: GaugeSeries

    /// Declares a gauge; its value is 0.
    /// - Parameters:
    ///   - help: one sentence for operators.
    ///   - labels: tell series of the same name apart.
    package init(
        _ name: String, _ help: String, labels: KeyValuePairs<String, String> = [:],
        in registry: MetricRegistry = .process
    ) {
        series = registry.series(MetricDescription(name, help, .gauge), labels) { GaugeSeries() }
    }

    /// Sets the value.
    package func set(_ value: Double) { series.bits.store(value.bitPattern, ordering: .relaxed) }

    /// Sets the value.
    package func set(_ value: Int) { set(Double(value)) }

    /// Sets the value to 1 or 0.
    package func set(_ value: Bool) { set(value ? 1 : 0) }
}

/// Gauges of one name for things that come and go, one for each value of a label.
package struct GaugeMap: Sendable {
    private let series: GaugeMapSeries

    /// Declares the gauges; there are none yet.
    package init(_ name: String, _ help: String, label: String, in registry: MetricRegistry = .process) {
        series = registry.series(MetricDescription(name, help, .gauge), [:]) { GaugeMapSeries(label: label) }
    }

    /// Replaces all gauges.
    /// - Parameter values: by the value of the label.
    package func replace(_ values: [String: Double]) { series.values.withLock { $0 = values } }
}

private final class GaugeSeries: MetricSeries {
    let bits = Atomic<UInt64>(0.0.bitPattern)

    func append(name: String, labels: String, to text: inout String) {
        text += "\(name)\(labels) \(MetricText.number(Double(bitPattern: bits.load(ordering: .relaxed))))\n"
    }
}

private final class GaugeMapSeries: MetricSeries {
    let label: String
    let values = Mutex<[String: Double]>([:])

    init(label: String) { self.label = label }

    func append(name: String, labels _: String, to text: inout String) {
        for (value, number) in values.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            text += "\(name)\(MetricText.labels([label: value])) \(MetricText.number(number))\n"
        }
    }
}
