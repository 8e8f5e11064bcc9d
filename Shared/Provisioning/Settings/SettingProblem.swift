internal import SignalingWire

/// Why a setting is refused, by a command or by a file.
package struct SettingProblem: Error, Equatable {
    /// The setting, as files and JSON output name it, or its place in a file.
    package var place: String
    /// What it has to be, such as `must be 50...5000`.
    package var rule: String
    /// What was found instead; nil for secrets, and where the rule says it.
    package var found: String?

    package init(_ place: String, _ rule: String, found: String? = nil) {
        self.place = place
        self.rule = rule
        self.found = found
    }

    /// The problem as a sentence.
    package var text: String { "\(place) \(rule)" + (found.map { "; it is \($0)" } ?? "") }

    /// The same problem, of a setting that is within something.
    func within(_ outer: FilePlace) -> SettingProblem {
        SettingProblem(outer.path(of: place), rule, found: found)
    }
}

/// Checks of values, for settings of all kinds.
enum Rule {
    static func check(_ value: Int?, of name: String, in range: ClosedRange<Int>) throws(SettingProblem) {
        guard let value, !range.contains(value) else { return }
        throw SettingProblem(name, "must be \(range.lowerBound)...\(range.upperBound)", found: String(value))
    }

    /// - Parameter rule: what the text has to be, for people.
    static func check(
        _ text: String?, of name: String, _ rule: String, _ isValid: (String) -> Bool
    ) throws(SettingProblem) {
        guard let text, !isValid(text) else { return }
        throw SettingProblem(name, rule, found: JSONValue.string(shortened(text)).compactText)
    }

    /// A check of a secret, which is not shown.
    static func check(secret: String?, bytes: ClosedRange<Int>) throws(SettingProblem) {
        guard let count = secret?.utf8.count, !bytes.contains(count) else { return }
        throw SettingProblem(
            "secret", "must have \(bytes.lowerBound)...\(bytes.upperBound) bytes", found: "one of \(count) bytes")
    }

    /// A text for an error.
    static func shortened(_ text: String) -> String { text.count > 40 ? "\(text.prefix(40))..." : text }
}
