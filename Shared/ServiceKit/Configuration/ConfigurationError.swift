/// Why a process refuses to start: all problems of its environment, reported in one line.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One entry per problem: the setting's name and what it must be, never its value.
    package let problems: [String]

    /// Creates the error from at least one problem.
    package init(problems: [String]) { self.problems = problems }

    /// The one line to print.
    package var description: String { "configuration: " + problems.joined(separator: "; ") }
}
