internal import ArgumentParser
internal import Provisioning

extension SettingProblem {
    /// The problem as a sentence about the setting's option, such as `--batch must be 1...1000; it is 0`.
    var ofOption: String {
        var problem = self
        problem.place =
            switch place {
            // An argument.
            case "host": "HOST"
            // The only option whose name is not that of the setting.
            case "ringSeconds": "--ring"
            default: "--" + Self.option(place)
            }
        return problem.text
    }

    private static func option(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : String($1) }
    }
}

extension ValidationError {
    /// A problem of what options say.
    init(_ problem: SettingProblem) { self.init(problem.ofOption) }
}
