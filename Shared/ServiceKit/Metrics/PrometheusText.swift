/// Formats parts of the Prometheus text format 0.0.4.
enum PrometheusText {
    /// Turns `label` into a valid name of a metric or label: characters other than letters, digits, `_` and `:` become `_`.
    static func name(_ label: String) -> String {
        var bytes = label.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"):
                byte
            default: UInt8(ascii: "_")
            }
        }
        if bytes.isEmpty || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[0]) {
            bytes.insert(UInt8(ascii: "_"), at: 0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Formats dimensions as labels, such as `{code="404"}`; empty text when there are none.
    static func labels(_ dimensions: [(String, String)]) -> String {
        if dimensions.isEmpty { return "" }
        let pairs = dimensions.sorted { $0.0 < $1.0 }.map { "\(name($0.0))=\"\(escaped($0.1))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// Adds one label to formatted labels.
    static func adding(_ label: String, _ value: String, to labels: String) -> String {
        labels.isEmpty ? "{\(label)=\"\(value)\"}" : "\(labels.dropLast()),\(label)=\"\(value)\"}"
    }

    /// Formats a number; whole numbers get no fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? String(value)
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
