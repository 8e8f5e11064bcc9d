/// A setting that a process takes from its environment, as declared by its read in ``EnvironmentReader``.
package struct Setting: Equatable, Sendable {
    /// The whole name, with the prefix.
    package let name: String
    /// What a value must look like, as in "a whole number from 0 to 65535".
    package let form: String
    /// The value when not set; empty when there is none.
    package let standard: String
    /// What it is for, in a few words.
    package let meaning: String

    /// One line for a listing: name, form, default and meaning, separated by tabs.
    package var line: String { "\(name)\t\(form)\t\(standard)\t\(meaning)" }
}
