package import BusProtocol
internal import SignalingProtocol

/// A key of the server API as its owner has it: `hk_ID_SECRET`, with ``APIKey/idDigits`` and ``secretDigits``
/// lower-case hexadecimal digits.
///
/// The prefix lets scanners of source code recognise a key that was committed by mistake. The secret has 256 random
/// bits, so that one round of SHA-256 protects it at rest as well as a slow hash would.
package struct APIKeyText: Equatable, Sendable {
    package static let prefix = "hk_"
    /// The hexadecimal digits of a secret.
    package static let secretDigits = 64

    /// See ``APIKey/id``.
    package let id: String
    private let secret: String

    /// Makes a new key.
    package static func random() -> APIKeyText {
        APIKeyText(
            id: SecureRandom.hex(bytes: APIKey.idDigits / 2), secret: SecureRandom.hex(bytes: secretDigits / 2))
    }

    private init(id: String, secret: String) {
        self.id = id
        self.secret = secret
    }

    /// Reads a key; nil for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let rest = text.utf8.dropFirst(Self.prefix.utf8.count)
        let parts = rest.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false).map { Substring($0) }
        guard parts.count == 2, Hex.isLowerCase(parts[0], digits: APIKey.idDigits),
            Hex.isLowerCase(parts[1], digits: Self.secretDigits)
        else { return nil }
        self.init(id: String(parts[0]), secret: String(parts[1]))
    }

    /// The key, to be shown once.
    package var text: String { "\(Self.prefix)\(id)_\(secret)" }

    /// What is stored of the secret: its SHA-256, in lower-case hexadecimal.
    package var digest: String { ContentDigest.sha256.text(of: secret) }

    /// Whether this is the key of that record, in a time that does not depend on where they differ.
    /// - Parameter key: nil for an unknown id; the comparison then takes as long, and fails.
    package func matches(_ key: APIKey?) -> Bool {
        let isEqual = ConstantTime.equal(digest, key?.digest ?? Self.noDigest)
        return isEqual && key?.id == id
    }

    private static let noDigest = String(repeating: "0", count: secretDigits)
}
