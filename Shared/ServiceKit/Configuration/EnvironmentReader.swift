#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads settings named `HELIOGRAPH_...` and collects their problems, to report all of them together.
///
/// An empty value counts as not set: `NAME=${NAME:-}` in a container definition produces one
/// for a variable that is not set.
package struct EnvironmentReader: Sendable {
    /// The prefix of all names.
    package static let prefix = "HELIOGRAPH_"
    /// The end of the names of variables that give a file with a secret.
    private static let fileSuffix = "_FILE"

    /// The settings read so far, in order.
    package private(set) var settings: [Setting] = []
    private let environment: [String: String]
    private var problems: [String] = []

    /// Reads from the given environment.
    package init(environment: [String: String]) { self.environment = environment }

    /// Reads from the process's environment.
    package static func process() -> EnvironmentReader {
        EnvironmentReader(environment: ProcessInfo.processInfo.environment)
    }

    /// Reads text; `standard` when not set.
    /// - Parameter name: the name without the prefix.
    package mutating func string(_ name: String, default standard: String, _ meaning: String = "") -> String {
        value(name, form: "text", standard: standard, meaning) { $0 } ?? standard
    }

    /// Reads text; nil when not set.
    package mutating func optional(_ name: String, _ meaning: String = "") -> String? {
        optional(name, standard: "", meaning)
    }

    /// Reads text; nil when not set.
    /// - Parameter standard: the default that the listing of the settings names.
    private mutating func optional(_ name: String, standard: String, _ meaning: String) -> String? {
        value(name, form: "text", standard: standard, meaning) { $0 }
    }

    /// Reads a secret: the value of the variable, or the only line of the file that the variable with
    /// `_FILE` at the end of its name gives; `standard` when neither is set. Both at once, and a file
    /// that cannot be read, are problems.
    /// - Parameter name: the name without the prefix and without `_FILE`.
    package mutating func secret(_ name: String, default standard: String, _ meaning: String = "") -> String {
        let value = optional(name, standard: standard, meaning)
        let fileName = "\(name)\(Self.fileSuffix)"
        guard let path = optional(fileName, "the file that \(Self.prefix)\(name) is read from instead") else {
            return value ?? standard
        }
        if value != nil {
            reject(fileName, "must not be set together with \(Self.prefix)\(name)")
            return standard
        }
        do {
            return try SecretFile.read(path)
        } catch {
            reject(fileName, error.text)
            return standard
        }
    }

    /// Reads a whole number within bounds.
    package mutating func int(
        _ name: String, default standard: Int, in range: ClosedRange<Int>, _ meaning: String = ""
    ) -> Int {
        let form = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return value(name, form: form, standard: String(standard), meaning) { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        } ?? standard
    }

    /// Reads a boolean: `true`, `yes`, `on`, `1` or `false`, `no`, `off`, `0`.
    package mutating func bool(_ name: String, default standard: Bool, _ meaning: String = "") -> Bool {
        value(name, form: "true or false", standard: String(standard), meaning) { text in
            switch text.lowercased() {
            case "true", "yes", "on", "1": true
            case "false", "no", "off", "0": false
            default: nil
            }
        } ?? standard
    }

    /// Reads a duration such as `250ms`, `30s`, `5m` or `2h`; a whole number without a unit counts seconds.
    package mutating func duration(
        _ name: String, default standard: Duration, in range: ClosedRange<Duration>, _ meaning: String = ""
    ) -> Duration {
        let form = "a time span from \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        return value(name, form: form, standard: DurationText.text(standard), meaning) { text in
            DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil }
        } ?? standard
    }

    /// Reads one of an enumeration's raw values.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, default standard: Choice, _ meaning: String = ""
    ) -> Choice {
        let form = "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return value(name, form: form, standard: standard.rawValue, meaning, Choice.init(rawValue:)) ?? standard
    }

    /// Reports a problem of a setting that was read, found by itself or in combination with other settings.
    /// - Parameters:
    ///   - name: the name without the prefix.
    ///   - why: what the setting must be; never its value, which may be a secret.
    package mutating func reject(_ name: String, _ why: String) {
        problems.append("\(Self.prefix)\(name) \(why)")
    }

    /// Ends the reading.
    /// - Returns: variables with the prefix that were not read, or whose value is not meant for the setting.
    /// - Throws: when a setting has a value that it cannot have.
    package func finish() throws(ConfigurationError) -> IgnoredSettings {
        if !problems.isEmpty { throw ConfigurationError(problems: problems) }
        return IgnoredSettings(environment: environment, known: settings.map(\.name))
    }

    private mutating func value<Value>(
        _ name: String, form: String, standard: String, _ meaning: String, _ parse: (String) -> Value?
    ) -> Value? {
        let setting = Setting(name: Self.prefix + name, form: form, standard: standard, meaning: meaning)
        if !settings.contains(where: { $0.name == setting.name }) { settings.append(setting) }
        guard let text = environment[setting.name], !text.isEmpty,
            !IgnoredSettings.isServiceLink(setting.name, text)
        else { return nil }
        if let value = parse(text) { return value }
        reject(name, "must be \(form)")
        return nil
    }
}
