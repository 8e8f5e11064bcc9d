/// A setting that a process reads from its environment; declared by reading it with ``EnvironmentReader``.
package struct Setting: Equatable, Sendable {
    /// The environment variable's name, including the prefix.
    package let name: String
    /// The form of valid values, such as "a whole number from 0 to 65535".
    package let form: String
    /// The default; empty when there is none.
    package let standard: String
    /// What the setting is for, in a few words.
    package let meaning: String

    /// One line of a listing: name, form, default and meaning, separated by tabs.
    package var line: String { "\(name)\t\(form)\t\(standard)\t\(meaning)" }
}

/// Why a process refuses to start: all problems of its environment, reported in one line.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One entry per problem: the setting's name and what it must be, never its value.
    package let problems: [String]

    /// Creates the error from at least one problem.
    package init(problems: [String]) { self.problems = problems }

    /// The one line to print.
    package var description: String { "configuration: " + problems.joined(separator: "; ") }
}
