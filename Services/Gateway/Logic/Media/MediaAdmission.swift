package import BusProtocol
package import SignalingProtocol
internal import SignalingTokens

/// Decides whether a dynamic key lets a client into a media channel.
package enum MediaAdmission {
    /// - Parameters:
    ///   - key: nil, "" and the app's id count as no key.
    ///   - uid: the uid that the client asks for, 0 for any: keys are made for that.
    ///   - now: Unix seconds.
    /// - Returns: when the service ends that the key is for, in Unix seconds; 0 for never.
    /// - Throws: why the key does not admit the client.
    package static func check(
        _ key: String?, for uid: UInt32, in channel: MediaChannelKey, settings: AppSettings, now: Int64
    ) throws(MediaRefusal) -> Int64 {
        // Without a certificate there is nothing to check a key with.
        if settings.certificate.isEmpty, !settings.tokenRequired { return 0 }
        let grant = DynamicKey.Grant(.call, channel: channel.name.rawValue, uid: uid)
        let issuer = DynamicKey.Issuer(app: channel.app.rawValue, certificate: settings.certificate)
        do throws(DynamicKeyError) {
            return try DynamicKey.admit(
                key, for: grant, of: issuer, isRequired: settings.tokenRequired, now: now)
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
