/// How log lines look.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object a line.
    case json
    /// Time, level, message and `key=value` pairs, for people.
    case text
}
