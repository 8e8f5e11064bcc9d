/// Formats parts of Prometheus' text format 0.0.4.
enum MetricText {
    /// Labels in the order of their names, such as `{code="404"}`; empty text when there are none.
    static func labels(_ labels: KeyValuePairs<String, String>) -> String {
        if labels.isEmpty { return "" }
        let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// Adds one label to formatted labels.
    static func adding(_ label: String, _ value: String, to labels: String) -> String {
        labels.isEmpty ? "{\(label)=\"\(value)\"}" : "\(labels.dropLast()),\(label)=\"\(value)\"}"
    }

    /// The text of a HELP line.
    static func help(_ help: String) -> String { escaped(help, quotes: false) }

    /// Formats a number; whole numbers get no fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? String(value)
    }

    private static func escaped(_ value: String, quotes: Bool) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"" where quotes: text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
