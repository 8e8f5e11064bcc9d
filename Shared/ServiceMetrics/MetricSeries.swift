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
