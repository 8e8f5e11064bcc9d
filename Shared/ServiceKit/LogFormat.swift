/// How log lines look.
public enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object a line.
    case json
    /// Time, level, message and `key=value` pairs, for people.
    case text
}
