internal import Pacing

/// Durations as written in settings.
enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// Parses a whole number with a unit (none: seconds); nil for anything else.
    static func parse(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
        let suffix = text[digits.endIndex...]
        guard let number = Int64(digits),
            let unit = units.first(where: { $0.suffix == (suffix.isEmpty ? "s" : suffix) })
        else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : .milliseconds(milliseconds)
    }

    /// The shortest text that ``parse(_:)`` reads as `duration`; fractions of a millisecond are dropped.
    static func text(_ duration: Duration) -> String {
        let milliseconds = duration.wholeMilliseconds
        for unit in units.reversed() where milliseconds >= unit.milliseconds && milliseconds % unit.milliseconds == 0 {
            return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
        }
        return "\(milliseconds)ms"
    }
}
