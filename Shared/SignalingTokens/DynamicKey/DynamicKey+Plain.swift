internal import SignalingProtocol

/// Versions 003 and 004: decimal and hexadecimal digits, signed with the certificate's text.
extension DynamicKey {
    /// Version, signature, app id, time, random number; in version 003 the uid; expiry.
    func plainText(for grant: Grant, certificate: String) throws(SignalingError) -> String {
        guard appID.utf8.count == 32, Self.isTenDigits(timestamp), Self.isTenDigits(expiry),
            version == .v004 || grant.service == .call
        else { throw Self.doesNotFit }
        let uid = version == .v003 ? Self.padded(Int64(grant.uid)) : ""
        return version.rawValue + plainSignature(grant, certificate: certificate) + appID + Self.padded(timestamp)
            + Hex.text(random) + uid + Self.padded(expiry)
    }

    static func checkPlain(
        _ text: String, version: Version, for grant: Grant, of issuer: Issuer
    ) throws(DynamicKeyError) -> DynamicKey {
        let bytes = Array(text.utf8)
        guard bytes.count == (version == .v003 ? 113 : 103), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .malformed
        }
        func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        guard let timestamp = decimal(bytes[75..<85]), let random = Hex.number(part(85..<93)),
            let expiry = decimal(bytes[(bytes.count - 10)...])
        else { throw .malformed }
        let key = DynamicKey(
            version: version, appID: part(43..<75), timestamp: timestamp, random: UInt32(random), expiry: expiry)
        if version == .v003 {
            guard let uid = decimal(bytes[93..<103]) else { throw .malformed }
            guard uid == Int64(grant.uid), grant.service == .call else { throw .wrong }
        }
        let expected = key.plainSignature(grant, certificate: issuer.certificate)
        guard key.appID.utf8.elementsEqual(issuer.app.utf8),
            ConstantTime.equal(expected, part(3..<43).lowercased())
        else { throw .wrong }
        return key
    }

    private func plainSignature(_ grant: Grant, certificate: String) -> String {
        let padding = String(repeating: "\0", count: max(0, 32 - appID.utf8.count))
        let content =
            (version == .v003 ? "" : grant.service.rawValue) + padding + appID + Self.padded(timestamp)
            + Hex.text(random) + grant.channel + Self.padded(Int64(grant.uid)) + Self.padded(expiry)
        return ContentDigest.sha1.text(of: content, key: certificate)
    }

    private static func isTenDigits(_ number: Int64) -> Bool { (0...9_999_999_999).contains(number) }

    private static func padded(_ number: Int64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
    }

    /// The number that ten digits denote; nil for other characters, signs among them.
    private static func decimal(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
