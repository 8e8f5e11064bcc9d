/// The target of a request line, such as `/getaddr?vid=abc`.
package enum HTTPTarget {
    /// The part before the query, not percent-decoded.
    package static func path(of target: String) -> String { String(target.prefix { $0 != "?" }) }
}
