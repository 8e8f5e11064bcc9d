internal import CCrypto
package import SignalingProtocol

/// The dynamic key of media channels, version `004`: 103 characters that admit a user to a channel for a limited time.
///
/// Source: Native SDK 1.4, "Dynamic Key". Signaling clients do not send it; it is for servers that issue or check such
/// keys.
package struct DynamicKey: Equatable, Sendable {
    /// The number of characters of a key.
    package static let length = 103
    /// The number of seconds after its timestamp within which a key must be used.
    package static let useWithin: Int64 = 300

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

    /// The app id: 32 characters.
    package var appID: String
    /// When the key was made, in Unix seconds.
    package var timestamp: Int64
    /// Any number; distinguishes keys made in the same second.
    package var random: UInt32
    /// When the service ends, in Unix seconds; 0 for never.
    package var expiry: Int64

    /// Creates a key's parts.
    package init(appID: String, timestamp: Int64, random: UInt32, expiry: Int64) {
        self.appID = appID
        self.timestamp = timestamp
        self.random = random
        self.expiry = expiry
    }

    /// Encodes the key.
    /// - Parameter certificate: the app's certificate, which signs the key.
    /// - Throws: `SignalingError` (1004) when a number has more than 10 digits or the app id is not 32 characters long.
    package func text(for grant: Grant, certificate: String) throws(SignalingError) -> String {
        guard appID.utf8.count == 32, Self.isTenDigits(timestamp), Self.isTenDigits(expiry) else {
            throw SignalingError(
                .wrongParameter, .invalidKeyParts,
                "a dynamic key needs an app id of 32 characters and times of at most 10 digits")
        }
        let signature = signature(grant, certificate: certificate)
        return "004\(signature)\(appID)\(Self.padded(timestamp))\(randomHex)\(Self.padded(expiry))"
    }

    /// Checks a key.
    /// - Parameter now: Unix seconds.
    /// - Returns: the key's parts.
    /// - Throws: `SignalingError`: 1004 `malformed_key`, 206 `wrong_key` (another app, channel, user, service or
    ///   certificate), 204 `key_expired` (not used within ``useWithin``, or its service has ended).
    @discardableResult
    package static func check(
        _ text: String, for grant: Grant, app: String, certificate: String, now: Int64
    ) throws(SignalingError) -> DynamicKey {
        let bytes = Array(text.utf8)
        guard bytes.count == length, text.hasPrefix("004"), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw malformed
        }
        func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        guard let timestamp = Int64(part(75..<85)), let random = Hex.number(part(85..<93)),
            let expiry = Int64(part(93..<103)), timestamp >= 0, expiry >= 0
        else { throw malformed }
        let key = DynamicKey(appID: part(43..<75), timestamp: timestamp, random: UInt32(random), expiry: expiry)
        let expected = key.signature(grant, certificate: certificate)
        guard key.appID.utf8.elementsEqual(app.utf8), ConstantTime.equal(expected, part(3..<43).lowercased()) else {
            throw SignalingError(
                .loginTokenWrong, .wrongKey, "the key was made for another app, channel, user or service")
        }
        guard now - timestamp <= useWithin, expiry == 0 || expiry > now else {
            throw SignalingError(.loginTokenExpired, .keyExpired, "the key has expired")
        }
        return key
    }

    private static let malformed = SignalingError(
        .wrongParameter, .malformedKey, "a dynamic key must be 004 followed by 100 characters")

    private var randomHex: String { Hex.text(random) }

    private static func isTenDigits(_ number: Int64) -> Bool { (0...9_999_999_999).contains(number) }

    private static func padded(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
    }

    private func signature(_ grant: Grant, certificate: String) -> String {
        let padding = String(repeating: "\0", count: max(0, 32 - appID.utf8.count))
        let content =
            grant.service.rawValue + padding + appID + Self.padded(timestamp) + randomHex + grant.channel
            + Self.padded(Int64(grant.uid)) + Self.padded(expiry)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        let key = Array(certificate.utf8)
        let bytes = Array(content.utf8)
        HMAC(EVP_sha1(), key, Int32(key.count), bytes, bytes.count, &digest, &size)
        return Hex.text(Array(digest[..<Int(size)]))
    }
}
