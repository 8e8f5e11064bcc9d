/// Why a process refuses to start: everything that is wrong with its environment, in one line.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One problem each, naming the setting and what it must be, never the value that was given.
    package let problems: [String]

    /// Creates the error from at least one problem.
    package init(problems: [String]) { self.problems = problems }

    /// The one line to print.
    package var description: String { "configuration: " + problems.joined(separator: "; ") }
}
