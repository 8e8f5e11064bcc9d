package import Pacing

/// Moments in tests are written as milliseconds.
extension LocalTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }
}
