package import SignalingProtocol

/// The dynamic key of media channels, version `003`, `004` or `005`: a text that admits a user
/// to a channel for a limited time.
///
/// Source: Native SDK 1.4, "Dynamic Key", and the public key builders of that generation. Signaling clients do not send
/// it; it is for media, and for servers that issue such keys.
package struct DynamicKey: Equatable, Sendable {
    /// The number of seconds after its timestamp within which a key must be used.
    package static let useWithin: Int64 = 300
    /// The greatest number of bytes of a key's text; a key of version 005 may carry permissions.
    package static let maxLength = 1024

    /// The layout of a key; the raw value is how its text begins.
    package enum Version: String, Sendable, CaseIterable {
        /// Contains the user's uid and no service: good for calls only. 113 characters.
        case v003 = "003"
        /// Signed for a service. 103 characters.
        case v004 = "004"
        /// Binary fields in base64. App id and certificate are 32 hexadecimal digits.
        case v005 = "005"
    }

    /// What a key is for.
    package enum Service: String, Sendable, CaseIterable {
        /// Joining a channel.
        case call = "ACS"
        /// Recording a channel.
        case recording = "ARS"
        /// Sharing within a channel.
        case sharing = "APSS"
    }

    /// What a key permits a user to do in a channel.
    package struct Grant: Sendable {
        package var service: Service
        package var channel: String
        package var uid: UInt32

        package init(_ service: Service, channel: String, uid: UInt32) {
            self.service = service
            self.channel = channel
            self.uid = uid
        }
    }

    /// The app that issues keys.
    package struct Issuer: Sendable {
        package var app: String
        /// The app's certificate, which signs its keys.
        package var certificate: String

        package init(app: String, certificate: String) {
            self.app = app
            self.certificate = certificate
        }
    }

    package var version: Version
    /// The app id: 32 characters. A key of version 005 contains the number that they
    /// denote, so that their case is lost.
    package var appID: String
    /// When the key was made, in Unix seconds.
    package var timestamp: Int64
    /// Any number; distinguishes keys made in the same second.
    package var random: UInt32
    /// When the service ends, in Unix seconds; 0 for never.
    package var expiry: Int64

    /// Creates a key's parts.
    package init(version: Version = .v004, appID: String, timestamp: Int64, random: UInt32, expiry: Int64) {
        self.version = version
        self.appID = appID
        self.timestamp = timestamp
        self.random = random
        self.expiry = expiry
    }

    /// Encodes the key.
    /// - Parameter certificate: the app's certificate, which signs the key.
    /// - Throws: `SignalingError` (1004 `invalid_key_parts`) when a part does not fit the version: a number with too
    ///   many digits, an app id that is not 32 characters long; in version 003 another service than calls; in version
    ///   005 an app id or a certificate that is not hexadecimal.
    package func text(for grant: Grant, certificate: String) throws(SignalingError) -> String {
        switch version {
        case .v003, .v004: try plainText(for: grant, certificate: certificate)
        case .v005: try packedText(for: grant, certificate: certificate)
        }
    }

    /// Checks the key that a user joins with; an app that requires no tokens also lets those in who have none.
    /// - Parameters:
    ///   - text: nil, "" and the app's id, which some apps send, count as no key.
    ///   - isRequired: whether the app requires tokens.
    ///   - now: Unix seconds.
    /// - Returns: when the service ends, in Unix seconds; 0 for never, also without a key.
    /// - Throws: see ``DynamicKeyError``.
    package static func admit(
        _ text: String?, for grant: Grant, of issuer: Issuer, isRequired: Bool, now: Int64
    ) throws(DynamicKeyError) -> Int64 {
        guard let text, !text.isEmpty, !text.utf8.elementsEqual(issuer.app.utf8) else {
            if isRequired { throw .required }
            return 0
        }
        return try check(text, for: grant, of: issuer, now: now).expiry
    }

    /// Checks a key.
    /// - Parameters:
    ///   - isFresh: false for a user who rejoins within the same call: the key may then be older than ``useWithin``.
    ///   - now: Unix seconds.
    /// - Returns: the key's parts.
    /// - Throws: ``DynamicKeyError``, never `required`. A key that is both wrong and expired is wrong.
    @discardableResult
    package static func check(
        _ text: String, for grant: Grant, of issuer: Issuer, isFresh: Bool = true, now: Int64
    ) throws(DynamicKeyError) -> DynamicKey {
        // Versions 001 and 002 begin with their signature, not with a version.
        guard text.utf8.count <= maxLength, let version = Version(rawValue: String(text.prefix(3))) else {
            throw .malformed
        }
        let key =
            switch version {
            case .v003, .v004:
                try checkPlain(text, version: version, for: grant, of: issuer)
            case .v005: try checkPacked(text, for: grant, of: issuer)
            }
        guard !isFresh || now - key.timestamp <= useWithin, key.expiry == 0 || key.expiry > now else { throw .expired }
        return key
    }

    static let doesNotFit = SignalingError(
        .wrongParameter, .invalidKeyParts,
        "a dynamic key needs an app id of 32 characters, times of at most 10 digits, and what its version can express")
}

/// Why a dynamic key admits nobody.
package enum DynamicKeyError: Error, Equatable, Sendable, CaseIterable {
    /// The app requires a key, and there was none.
    case required
    /// The text is not a key of version 003, 004 or 005.
    case malformed
    /// The key was made for another app, channel, user or service, or with another certificate.
    case wrong
    /// The key is genuine, but was not used in time, or its service has ended.
    case expired
}
