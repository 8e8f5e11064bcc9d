internal import Synchronization

/// The metrics of a process, as `/metrics` shows them.
///
/// Each is declared where it is counted, as a ``Counter``, ``Gauge`` or ``Histogram``, and is shown from its
/// declaration on: with 0 until something has happened. The same name and labels declared twice are the same metric.
package final class MetricRegistry: Sendable {
    /// The metrics that this process shows.
    package static let process = MetricRegistry()

    private struct Family {
        let description: MetricDescription
        /// By their labels as text, such as `{code="404"}`.
        var series: [String: any MetricSeries] = [:]
    }

    private let families = Mutex<[String: Family]>([:])

    /// Creates an empty registry.
    package init() {}

    /// All metrics in Prometheus' text format 0.0.4.
    package func text() -> String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(MetricText.help(family.description.help))\n"
            text += "# TYPE \(name) \(family.description.kind.rawValue)\n"
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.append(name: name, labels: labels, to: &text)
            }
        }
        return text
    }

    /// Declares a metric whose value is asked for whenever the metrics are shown.
    /// - Parameter value: nil leaves the metric out.
    package func observe(
        _ kind: MetricKind, _ name: String, _ help: String, _ value: @escaping @Sendable () -> Double?
    ) {
        _ = series(MetricDescription(name, help, kind), [:]) { ObservedSeries(value) }
    }

    /// The series with this name and these labels, made if there is none yet.
    func series<Series: MetricSeries>(
        _ description: MetricDescription, _ labels: KeyValuePairs<String, String>, make: () -> Series
    ) -> Series {
        let text = MetricText.labels(labels)
        return families.withLock { families in
            var family = families[description.name] ?? Family(description: description)
            precondition(family.description == description, "\(description.name) is declared in two ways")
            let known = family.series[text] as? Series
            let series = known ?? make()
            family.series[text] = series
            families[description.name] = family
            return series
        }
    }
}

/// What a metric is, which decides what may be computed from it.
package enum MetricKind: String, Sendable {
    /// Only grows, until its process ends.
    case counter
    /// Grows and shrinks.
    case gauge
    /// Counts values by size.
    case histogram
}

/// The name of a metric and what is said about it.
struct MetricDescription: Equatable {
    let name: String
    /// One sentence for operators.
    let help: String
    let kind: MetricKind

    /// - Parameter name: in the form that Prometheus' conventions prescribe: small letters, the unit at the end, a
    ///   counter's after that with `_total`.
    init(_ name: String, _ help: String, _ kind: MetricKind) {
        let isWellFormed = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
        }
        precondition(isWellFormed, "\(name) is no name of a metric")
        precondition(name.hasSuffix("_total") == (kind == .counter), "\(name): counters, and only they, end in _total")
        precondition(help.hasSuffix("."), "\(name): its description is no sentence")
        self.name = name
        self.help = help
        self.kind = kind
    }
}

/// The values of one metric with the same labels: one line of text, or the lines of a histogram.
protocol MetricSeries: AnyObject, Sendable {
    func append(name: String, labels: String, to text: inout String)
}

/// A value that is asked for when it is shown.
final class ObservedSeries: MetricSeries {
    private let value: @Sendable () -> Double?

    init(_ value: @escaping @Sendable () -> Double?) { self.value = value }

    func append(name: String, labels: String, to text: inout String) {
        if let value = value() { text += "\(name)\(labels) \(MetricText.number(value))\n" }
    }
}
