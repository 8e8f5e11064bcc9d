internal import Synchronization

/// Counts how often something has happened since the process began.
package struct Counter: Sendable {
    private let series: CounterSeries

    /// Declares a counter; its value is 0.
    /// - Parameters:
    ///   - name: ends in `_total`.
    ///   - help: one sentence for operators.
    ///   - labels: tell series of the same name apart.
    package init(
        _ name: String, _ help: String, labels: KeyValuePairs<String, String> = [:],
        in registry: MetricRegistry = .process
    ) {
        series = registry.series(MetricDescription(name, help, .counter), labels) { CounterSeries() }
    }

    /// Counts. May be called from any thread; takes no lock, because it is called for each message.
    package func increment(by amount: Int = 1) { series.value.wrappingAdd(amount, ordering: .relaxed) }
}

/// Counters of one name, one for each value of a label; all are shown from the start.
package struct CounterSet<Value: RawRepresentable<String> & CaseIterable & Hashable & Sendable>: Sendable {
    private let counters: [Value: Counter]

    /// Declares the counters.
    /// - Parameters:
    ///   - label: the label whose values are those of `Value`.
    ///   - other: another label, the same for all of them; nil for none.
    package init(
        _ name: String, _ help: String, label: String, and other: (name: String, value: String)? = nil,
        in registry: MetricRegistry = .process
    ) {
        var counters: [Value: Counter] = [:]
        for value in Value.allCases {
            counters[value] =
                if let other {
                    Counter(name, help, labels: [other.name: other.value, label: value.rawValue], in: registry)
                } else {
                    Counter(name, help, labels: [label: value.rawValue], in: registry)
                }
        }
        self.counters = counters
    }

    /// Counts with this value of the label.
    package func increment(_ value: Value, by amount: Int = 1) { counters[value]?.increment(by: amount) }
}

private final class CounterSeries: MetricSeries {
    let value = Atomic<Int>(0)

    func append(name: String, labels: String, to text: inout String) {
        text += "\(name)\(labels) \(value.load(ordering: .relaxed))\n"
    }
}
