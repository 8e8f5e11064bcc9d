internal import SignalingWire

/// Where a file says that a secret is: files have none in clear.
package enum SecretReference: Equatable, Sendable {
    /// An environment variable's name.
    case variable(String)
    /// The path of a file whose only line is the secret.
    case file(String)
}

/// How secrets are given.
package enum SecretSource {
    /// By reference, in files, which are kept in repositories and shown in reviews. The function fetches a secret; it
    /// throws what the reference has to be, such as `names no variable`.
    case references((SecretReference) throws(SettingProblem) -> String)
    /// In clear, in a request to a server. References are refused there: they would read the server's own environment
    /// and files.
    case values
}

extension FilePlace {
    /// A secret.
    func secret(from source: SecretSource) throws(SettingProblem) -> String {
        switch source {
        case .references(let fetch): try secret(fetch)
        case .values: try secretInClear()
        }
    }

    /// Says nothing of what was found instead: it may be the secret.
    private func secretInClear() throws(SettingProblem) -> String {
        guard case .object(let members) = value, members.count == 1, members[0].name == "value",
            let text = members[0].value.string, !text.isEmpty, !text.utf8.contains(0)
        else {
            throw SettingProblem(
                path,
                #"must be {"value": "SECRET"} without NUL characters: "#
                    + "the server reads no variables and files for a request")
        }
        return text
    }

    private func secret(
        _ fetch: (SecretReference) throws(SettingProblem) -> String
    ) throws(SettingProblem) -> String {
        let rule = #"must be {"env": "NAME"} or {"file": "PATH"}: secrets are not written in the file"#
        // Not the value: it may be the secret.
        guard case .object = value else { throw SettingProblem(path, rule) }
        let found = try members(["env", "file"])
        guard found.count == 1, let (name, place) = found.first else { throw SettingProblem(path, rule) }
        guard case .string(let text) = place.value, !text.isEmpty else { throw SettingProblem(path, rule) }
        do throws(SettingProblem) {
            return try fetch(name == "env" ? .variable(text) : .file(text))
        } catch {
            throw SettingProblem(place.path, error.rule)
        }
    }
}
