internal import SignalingProtocol

/// Version 005: little-endian binary fields in base64, signed with the 16 bytes that the certificate's digits denote.
///
/// The text contains service, signature (upper-case digits), app id, time, random number, expiry, and a table of
/// permissions; signed are service, app id, time, random number, channel, uid, expiry and the table.
extension DynamicKey {
    private static let idBytes = 16

    func packedText(for grant: Grant, certificate: String) throws(SignalingError) -> String {
        guard let app = Self.bytes(ofDigits: appID), let secret = Self.bytes(ofDigits: certificate),
            let time = UInt32(exactly: timestamp), let end = UInt32(exactly: expiry), grant.channel.utf8.count <= 0xFFFF
        else { throw Self.doesNotFit }
        let noPermissions: [UInt8] = [0, 0]
        let signature = Self.packedSignature(
            grant, app: app, secret: secret, times: [time, random, end], permissions: noPermissions)
        var fields = LittleEndianFields()
        fields.put(grant.service.number)
        fields.put(Array(signature.utf8))
        fields.put(app)
        for number in [time, random, end] { fields.put(number) }
        return Version.v005.rawValue + Base64.text(fields.bytes + noPermissions)
    }

    static func checkPacked(
        _ text: String, for grant: Grant, of issuer: Issuer
    ) throws(DynamicKeyError) -> DynamicKey {
        let encoded = text.dropFirst(3)
        // Decoding is lenient; the text that encoding makes is the only one.
        guard let bytes = Base64.bytes(encoded), Base64.text(bytes).utf8.elementsEqual(encoded.utf8) else {
            throw .malformed
        }
        var reader = LittleEndianReader(bytes)
        guard let service = reader.number16(), (1...4).contains(service),
            let signature = reader.text(), signature.count == 40,
            let id = reader.text(), id.count == idBytes,
            let time = reader.number32(), let random = reader.number32(), let expiry = reader.number32(),
            let permissions = reader.table(), reader.isAtEnd
        else { throw .malformed }
        // Service 4, permissions within a channel, is none of ours.
        guard service == grant.service.number, let ourID = Self.bytes(ofDigits: issuer.app), ourID == id,
            let secret = Self.bytes(ofDigits: issuer.certificate), grant.channel.utf8.count <= 0xFFFF
        else { throw .wrong }
        let expected = packedSignature(
            grant, app: id, secret: secret, times: [time, random, expiry], permissions: permissions)
        let given = String(decoding: signature, as: UTF8.self).uppercased()
        guard ConstantTime.equal(expected, given) else { throw .wrong }
        return DynamicKey(
            version: .v005, appID: Hex.text(id), timestamp: Int64(time), random: random, expiry: Int64(expiry))
    }

    /// - Parameter times: time, random number and expiry.
    private static func packedSignature(
        _ grant: Grant, app: [UInt8], secret: [UInt8], times: [UInt32], permissions: [UInt8]
    ) -> String {
        var content = LittleEndianFields()
        content.put(grant.service.number)
        content.put(app)
        content.put(times[0])
        content.put(times[1])
        content.put(Array(grant.channel.utf8))
        content.put(grant.uid)
        content.put(times[2])
        return ContentDigest.sha1.text(of: content.bytes + permissions, key: secret).uppercased()
    }

    /// The 16 bytes of 32 hexadecimal digits; nil for other text.
    private static func bytes(ofDigits text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(Hex.value)
        guard digits.count == 2 * idBytes, text.utf8.count == digits.count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension DynamicKey.Service {
    /// The number in a key of version 005.
    fileprivate var number: UInt16 {
        switch self {
        case .call: 1
        case .recording: 2
        case .sharing: 3
        }
    }
}

/// Little-endian numbers, and texts after their length in 16 bits.
private struct LittleEndianFields {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func put(_ text: [UInt8]) {
        put(UInt16(text.count))
        bytes += text
    }
}

/// Reads what ``LittleEndianFields`` writes; each method returns nil where the bytes end too early.
private struct LittleEndianReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number16() -> UInt16? {
        guard let part = take(2) else { return nil }
        return part.reversed().reduce(0) { $0 << 8 | UInt16($1) }
    }

    mutating func number32() -> UInt32? {
        guard let part = take(4) else { return nil }
        return part.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func text() -> [UInt8]? {
        guard let count = number16(), let part = take(Int(count)) else { return nil }
        return Array(part)
    }

    /// The bytes of a table: a count, then as many numbers of 16 bits, each with its text.
    mutating func table() -> [UInt8]? {
        let start = position
        guard let count = number16() else { return nil }
        for _ in 0..<count {
            guard number16() != nil, text() != nil else { return nil }
        }
        return Array(bytes[start..<position])
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard bytes.count - position >= count else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }
}
