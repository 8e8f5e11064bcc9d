/// How long a registrar keeps our binding.
package enum RegistrationBinding {
    /// How long a 2xx to REGISTER grants our Contact: by its `expires` parameter, or else by Expires, or else as long
    /// as requested. Nil when our Contact is not listed.
    /// - Parameters:
    ///   - contact: our URI as sent.
    ///   - asked: the requested lifetime.
    package static func lifetime(in response: SIPMessage, contact: String, asked: Duration) -> Duration? {
        let ours = address(contact)
        for field in response.headers("Contact") {
            for value in values(of: field) {
                guard let uri = uri(in: value), address(uri) == ours else { continue }
                let parameters = value.split(separator: ">").last.map(String.init) ?? ""
                return expiry(in: parameters) ?? seconds(response.header("Expires")) ?? asked
            }
        }
        return nil
    }

    /// The values of one header line; commas inside quotes and angle brackets are not separators.
    static func values(of field: String) -> [String] {
        var (values, current) = ([String](), "")
        var (isQuoted, isBracketed, isEscaped) = (false, false, false)
        for character in field {
            if isEscaped {
                isEscaped = false
            } else if isQuoted {
                if character == "\\" { isEscaped = true }
                if character == "\"" { isQuoted = false }
            } else if character == "\"" {
                isQuoted = true
            } else if character == "<" || character == ">" {
                isBracketed = character == "<"
            } else if character == ",", !isBracketed {
                values.append(current)
                current = ""
                continue
            }
            current.append(character)
        }
        return values + [current]
    }

    private static func uri(in value: String) -> String? {
        if let start = value.lastIndex(of: "<"), let end = value.lastIndex(of: ">"), start < end {
            return String(value[value.index(after: start)..<end])
        }
        return value.split(separator: ";").first.map { SIPText.trimmed($0) }
    }

    /// The URI without parameters, which registrars may add or drop.
    private static func address(_ uri: String) -> String { uri.prefix { $0 != ";" && $0 != "?" }.lowercased() }

    private static func expiry(in parameters: String) -> Duration? {
        for parameter in parameters.split(separator: ";") {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { SIPText.trimmed($0) }
            if parts.count == 2, parts[0].lowercased() == "expires" { return seconds(parts[1]) }
        }
        return nil
    }

    private static func seconds(_ text: String?) -> Duration? {
        text.flatMap { SIPText.number(SIPText.trimmed($0), upTo: 0x7fff_ffff) }.map { .seconds(Int($0)) }
    }
}
