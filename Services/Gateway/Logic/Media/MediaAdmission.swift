package import SignalingProtocol
internal import SignalingTokens
package import SignalingWire

/// Decides whether a dynamic key lets a client into a media channel.
package enum MediaAdmission {
    /// - Parameter now: Unix seconds.
    /// - Returns: when the service ends that the key is for, in Unix seconds; 0 for never.
    /// - Throws: why the key does not admit the client.
    package static func check(
        _ request: MediaJoinRequest, app: AppID, settings: AppSettings, now: Int64
    ) throws(MediaRefusal) -> Int64 {
        // Without a certificate there is nothing to check a key with.
        if settings.certificate.isEmpty, !settings.tokenRequired { return 0 }
        let grant = DynamicKey.Grant(.call, channel: request.channel.rawValue, uid: request.uid)
        do throws(DynamicKeyError) {
            return try DynamicKey.admit(
                request.key, for: grant, app: app.rawValue, certificate: settings.certificate,
                isRequired: settings.tokenRequired, now: now)
        } catch {
            throw MediaRefusal(error)
        }
    }
}

extension MediaRefusal {
    fileprivate init(_ error: DynamicKeyError) {
        self =
            switch error {
            case .required: .keyRequired
            case .malformed: .malformedKey
            case .wrong: .wrongKey
            case .expired: .keyExpired
            }
    }
}
