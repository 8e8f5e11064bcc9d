/// A session description, as far as it concerns media over DTLS-SRTP (RFC 8866, 8843, 8122).
package struct SDPDescription: Equatable, Sendable {
    /// The mids of the BUNDLE groups.
    package var bundles: [[String]] = []
    package var setup: String?
    package var ice = ICECredentials()
    package var fingerprints: [String] = []
    package var sections: [SDPSection] = []

    /// Reads a description.
    /// - Throws: ``SDPError/tooLarge`` beyond ``SDPBounds``, ``SDPError/malformed(line:)``.
    package init(_ text: String) throws(SDPError) {
        for (index, line) in try SDPLine.lines(of: text).enumerated() {
            switch line.type {
            case UInt8(ascii: "m"):
                guard sections.count < SDPBounds.sections else { throw .tooLarge }
                guard let section = SDPSection(line.value) else { throw .malformed(line: index + 1) }
                sections.append(section)
            case UInt8(ascii: "a"):
                let isRead = sections.isEmpty ? take(line.value) : sections[sections.count - 1].take(line.value)
                guard isRead else { throw .malformed(line: index + 1) }
            default: break
            }
        }
    }

    private mutating func take(_ attribute: Substring) -> Bool {
        guard let (name, value) = attribute.cut(at: ":") else { return true }
        switch name {
        case "group":
            let words = value.words
            if words.first == "BUNDLE" { bundles.append(words.dropFirst().map(String.init)) }
        case "setup": setup = String(value)
        case "fingerprint": fingerprints.append(String(value))
        case "ice-ufrag": ice.userFragment = String(value)
        case "ice-pwd": ice.password = String(value)
        default: break
        }
        return true
    }
}

/// The credentials of one peer's connectivity checks (RFC 8839, section 5.4).
package struct ICECredentials: Equatable, Sendable {
    package var userFragment: String?
    package var password: String?

    /// Whether both are there: 4 to 256, and 22 to 256 letters, digits, `+` and `/`.
    package var areComplete: Bool {
        guard let userFragment, let password else { return false }
        return Self.isText(userFragment, of: 4...256) && Self.isText(password, of: 22...256)
    }

    private static func isText(_ text: String, of sizes: ClosedRange<Int>) -> Bool {
        sizes.contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"): true
                default: false
                }
            }
    }
}
