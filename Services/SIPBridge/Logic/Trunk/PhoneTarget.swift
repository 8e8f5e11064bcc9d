/// The telephone denoted by a callee's name, as the user part of a SIP URI.
package struct PhoneTarget: Equatable, Sendable {
    /// The largest size of a callee's name or a caller's number in bytes.
    package static let bound = 128

    /// The user part, escaped.
    package let user: String
    /// The user part without escapes.
    package let name: String

    /// Whether the name contains none of `&`, `,`, `/` and `=`, which telephone systems may read as several
    /// destinations or as options of a dial command (Asterisk's `Dial(PJSIP/${EXTEN})`).
    package var isDialable: Bool { !name.utf8.contains { "&,/=".utf8.contains($0) } }

    /// Parses `+` and digits, digits, a `tel:` or `sip:` URI, or any other name; nil when it denotes no telephone.
    ///
    /// Parameters of a URI are dropped, and so is the host of a `sip:` URI, because the trunk routes its numbers.
    package init?(callee: String) {
        guard let name = Self.name(in: callee), !name.isEmpty, name.utf8.count <= Self.bound,
            name.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return nil }
        self.name = name
        user = PhoneText.escapedUser(name)
    }

    private static func name(in callee: String) -> String? {
        let parts = callee.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return callee }
        switch parts[0].lowercased() {
        case "tel":
            // Visual separators are not part of the number (RFC 3966, 5.1.1).
            let number = parts[1].prefix { $0 != ";" }.filter { !"-.()".contains($0) }
            return PhoneText.isNumber(number) ? number : nil
        case "sip", "sips":
            guard let at = parts[1].lastIndex(of: "@"), !parts[1].contains("?") else { return nil }
            // Without a password and parameters in the user part.
            return PhoneText.unescaped(parts[1][..<at].prefix { $0 != ";" && $0 != ":" })
        default:
            return callee
        }
    }
}

/// The name under which a telephone's call is shown to a user.
package enum PhoneCaller {
    /// The name of a caller that gives none.
    package static let anonymous = "anonymous"

    /// The caller's number, or else its SIP address, or else `anonymous`.
    /// - Parameters:
    ///   - user: the user part of From.
    ///   - host: the host of From.
    package static func name(user: String, host: String) -> String {
        let plain = PhoneText.unescaped(userName(user)) ?? ""
        if PhoneText.isNumber(plain), plain.utf8.count <= PhoneTarget.bound { return plain }
        let isNamed = !plain.isEmpty && plain.lowercased() != anonymous && host.lowercased() != "anonymous.invalid"
        let address = "sip:\(userName(user))@\(host)"
        guard isNamed, !host.isEmpty, address.utf8.count <= PhoneTarget.bound,
            address.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { return anonymous }
        return address
    }

    /// The user part of From for a user of the app: the account, if it is a token.
    package static func user(of account: String) -> String {
        account.utf8.allSatisfy(SIPHeaderField.isTokenByte) ? account : anonymous
    }

    /// Whether a name would be taken for a telephone number by the people who see it.
    package static func isNumber(_ name: String) -> Bool { PhoneText.isNumber(name) }

    /// The spellings under which a called number may be stored, beginning with the received one.
    package static func spellings(ofCalled user: String) -> [String] {
        guard let number = PhoneText.unescaped(userName(user)), !number.isEmpty, number.utf8.count <= PhoneTarget.bound
        else { return [] }
        if number.hasPrefix("+") { return [number, String(number.dropFirst())].filter { !$0.isEmpty } }
        return PhoneText.isNumber(number) ? [number, "+\(number)"] : [number]
    }

    /// The user part without the parameters that some senders put into it.
    private static func userName(_ user: String) -> Substring { user.prefix { $0 != ";" } }
}
