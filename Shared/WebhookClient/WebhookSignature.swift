internal import SignalingTokens

/// The signature of a request to an app's server.
package enum WebhookSignature {
    /// The value of the header `Heliograph-Signature`: the time, and the HMAC-SHA256 of the
    /// time, a full stop and the body, by each of the secrets.
    /// - Parameters:
    ///   - secrets: the newest first. Receivers that read only the last signature, as our documents had it before
    ///     there could be several, go on with the secret that they know.
    ///   - time: in Unix seconds.
    package static func header(of body: String, secrets: [String], time: Int64) -> String {
        let signatures = secrets.map { ",v1=\(ContentDigest.sha256.text(of: "\(time).\(body)", key: $0))" }
        return "t=\(time)" + signatures.joined()
    }
}
