internal import SignalingWire

/// Where a file says that a secret is: files have none in clear.
package enum SecretReference: Equatable, Sendable {
    /// An environment variable's name.
    case variable(String)
    /// The path of a file whose only line is the secret.
    case file(String)
}

/// Fetches a secret; throws what the reference has to be, such as `names no variable`.
package typealias SecretSource = (SecretReference) throws(SettingProblem) -> String

extension FilePlace {
    /// A secret that is given by reference.
    func secret(from source: SecretSource) throws(SettingProblem) -> String {
        let rule = #"must be {"env": "NAME"} or {"file": "PATH"}: secrets are not written in the file"#
        // Not the value: it may be the secret.
        guard case .object = value else { throw SettingProblem(path, rule) }
        let found = try members(["env", "file"])
        guard found.count == 1, let (name, place) = found.first else { throw SettingProblem(path, rule) }
        guard case .string(let text) = place.value, !text.isEmpty else { throw SettingProblem(path, rule) }
        do throws(SettingProblem) {
            return try source(name == "env" ? .variable(text) : .file(text))
        } catch {
            throw SettingProblem(place.path, error.rule)
        }
    }
}
