internal import SignalingTokens

/// The signature of a request to an app's server.
package enum WebhookSignature {
    /// The value of the header `Heliograph-Signature`: the time, and the HMAC-SHA256 of the
    /// time, a full stop and the body.
    /// - Parameter time: in Unix seconds.
    package static func header(of body: String, secret: String, time: Int64) -> String {
        "t=\(time),v1=\(ContentDigest.sha256.text(of: "\(time).\(body)", key: secret))"
    }
}
