package import SignalingProtocol
internal import SignalingTokens

/// A write with an idempotency key: a repetition gets the answer of the first request and has no further effect.
package struct IdempotentRequest: Equatable, Sendable {
    /// The range of a key's length.
    package static let keyBytes = 1...128

    /// The key of the server API that the client uses, and the idempotency key, which means nothing to others' keys.
    package let key: String
    /// The client's idempotency key.
    package let name: String
    /// The SHA-256 of method, target and body.
    package let digest: String

    /// - Parameters:
    ///   - name: the header's value: 1...128 visible ASCII characters.
    ///   - key: the id of the key of the server API.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/invalidArgument``.
    package init(_ name: String, key: String, request: String) throws(APIProblem) {
        guard Self.keyBytes.contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw APIProblem.invalid("Idempotency-Key", "1...\(Self.keyBytes.upperBound) visible ASCII characters")
        }
        self.name = name
        self.key = key
        digest = ContentDigest.sha256.text(of: request)
    }

    /// The id of the request's command to the cluster: a repetition within a minute is recognised even when the first
    /// answer was lost.
    /// - Parameter index: which of the request's messages.
    package func command(_ index: Int) -> CommandID { CommandID("api-\(key)-\(digest.prefix(24))-\(tail)-\(index)") }

    private var tail: String { String(ContentDigest.sha256.text(of: name).prefix(16)) }
}

/// A write with an idempotency key that is being carried out, perhaps not for the first time.
package struct BegunWrite: Equatable, Sendable {
    package let request: IdempotentRequest
    /// When its first attempt began, in Unix seconds: what the request says of times counts from then.
    package let begun: Int64

    package init(request: IdempotentRequest, begun: Int64) {
        self.request = request
        self.begun = begun
    }
}
