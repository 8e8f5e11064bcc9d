/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object per line.
    case json
    /// Time, level, message and `key=value` pairs, for people.
    case text
}
