/// The target of a request line, as in `/getaddr?vid=abc`.
package enum HTTPTarget {
    /// What stands before the query, not decoded.
    package static func path(of target: String) -> String { String(target.prefix { $0 != "?" }) }
}
