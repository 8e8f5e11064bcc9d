/// Why a process refuses to start: everything that is wrong with its environment, in one line.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One problem each, naming the setting and what it must be, never the value that was given.
    public let problems: [String]

    /// Creates the error from at least one problem.
    public init(problems: [String]) { self.problems = problems }

    /// The one line to print.
    public var description: String { "configuration: " + problems.joined(separator: "; ") }
}
