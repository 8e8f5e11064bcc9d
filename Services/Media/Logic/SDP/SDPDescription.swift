/// A session description, as far as it concerns media over DTLS-SRTP (RFC 8866, 8843, 8122).
package struct SDPDescription: Equatable, Sendable {
    /// The mids of the BUNDLE groups.
    package var bundles: [[String]] = []
    package var setup: String?
    package var fingerprints: [String] = []
    package var sections: [SDPSection] = []

    /// Reads a description.
    /// - Throws: ``SDPError/tooLarge`` beyond ``SDPBounds``, ``SDPError/malformed(line:)``.
    package init(_ text: String) throws(SDPError) {
        for (index, line) in try SDPLine.lines(of: text).enumerated() {
            switch line.type {
            case "m":
                guard sections.count < SDPBounds.sections else { throw .tooLarge }
                guard let section = SDPSection(line.value) else { throw .malformed(line: index + 1) }
                sections.append(section)
            case "a":
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
        default: break
        }
        return true
    }
}
