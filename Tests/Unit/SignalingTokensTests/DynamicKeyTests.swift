import SignalingProtocol
import SignalingTokens
import Testing

@Suite struct DynamicKeyTests {
    private static let app = "970ca35de60c44645bbae8a215061b33"
    private static let certificate = "5cfd2fd1755d40ecb72977518be15d3b"
    private static let channel = "7d72365eb983485397e3e3f9d460bdda"
    private static let uid: UInt32 = 2_882_341_273
    private static let key = key(.v004)
    /// The published test vector of version 004.
    private static let call =
        "004d0ec5ee3179c964fe7c0485c045541de6bff332b970ca35de60c44645bbae8a215061b3314464554720383bbf51446455471"
    /// The vectors of the other versions, from the published descriptions and the same data.
    private static let call003 =
        "0037666966591a93ee5a3f712e22633f31f0cbc8f13970ca35de60c44645bbae8a215061b33"
        + "14464554720383bbf528823412731446455471"
    private static let call005 =
        "005AQAoAEJERTJDRDdFNkZDNkU0ODYxNkYxQTYwOUVFNTM1M0U5ODNCQjFDNDQQAJcMo13mDERkW7roohUGGzOwKDdW9buDA68oN1YAAA=="

    private static func key(_ version: DynamicKey.Version) -> DynamicKey {
        DynamicKey(
            version: version, appID: app, timestamp: 1_446_455_472, random: 58_964_981, expiry: 1_446_455_471)
    }

    private static func text(
        _ key: DynamicKey, _ service: DynamicKey.Service = .call, certificate: String = certificate
    ) throws -> String {
        try key.text(for: grant(service), certificate: certificate)
    }

    private func check(
        _ text: String, for grant: DynamicKey.Grant = Self.grant(), of issuer: DynamicKey.Issuer = Self.issuer(),
        isFresh: Bool = true, now: Int64 = 1_446_455_470
    ) throws(DynamicKeyError) -> DynamicKey {
        try DynamicKey.check(text, for: grant, of: issuer, isFresh: isFresh, now: now)
    }

    private static func grant(
        _ service: DynamicKey.Service = .call, channel: String = channel, uid: UInt32 = uid
    ) -> DynamicKey.Grant { DynamicKey.Grant(service, channel: channel, uid: uid) }

    private static func issuer(app: String = app, certificate: String = certificate) -> DynamicKey.Issuer {
        DynamicKey.Issuer(app: app, certificate: certificate)
    }

    private func failure(_ act: () throws -> DynamicKey) -> DynamicKeyError? {
        do {
            _ = try act()
            return nil
        } catch {
            return error as? DynamicKeyError
        }
    }

    @Test func thePublicVector() throws {
        let text = try Self.text(Self.key)
        #expect(text == Self.call)
        #expect(try check(text) == Self.key)
        #expect(
            try Self.text(Self.key, .recording)
                == "004e0c24ac56aae05229a6d9389860a1a0e25e56da8970ca35de60c44645bbae8a215061b33"
                + "14464554720383bbf51446455471")
        #expect(
            try Self.text(Self.key, .sharing)
                == "004ec32c0d528e58ef90e8ff437a9706124137dc795970ca35de60c44645bbae8a215061b33"
                + "14464554720383bbf51446455471")
    }

    @Test func theVectorsOfOtherVersions() throws {
        #expect(try Self.text(Self.key(.v003)) == Self.call003)
        #expect(try check(Self.call003) == Self.key(.v003))
        // This vector's app id and certificate were written in mixed case; their digits denote the same bytes.
        #expect(try Self.text(Self.key(.v005)) == Self.call005)
        #expect(try check(Self.call005) == Self.key(.v005))
        #expect(
            try check(
                Self.call005,
                of: Self.issuer(
                    app: "970CA35de60c44645bbae8a215061b33", certificate: "5CFd2fd1755d40ecb72977518be15d3b"))
                == Self.key(.v005))
    }

    @Test(arguments: [DynamicKey.Version.v004, .v005])
    func eachServiceHasKeysOfItsOwn(_ version: DynamicKey.Version) throws {
        for made in DynamicKey.Service.allCases {
            let text = try Self.text(Self.key(version), made)
            for asked in DynamicKey.Service.allCases {
                #expect(failure { try check(text, for: Self.grant(asked)) } == (made == asked ? nil : .wrong))
            }
        }
    }

    @Test func version003IsForCallsOnly() {
        for service in [DynamicKey.Service.recording, .sharing] {
            #expect(failure { try check(Self.call003, for: Self.grant(service)) } == .wrong)
            #expect { try Self.text(Self.key(.v003), service) } throws: {
                ($0 as? SignalingError)?.reason == .invalidKeyParts
            }
        }
    }

    @Test(arguments: [call, call003, call005])
    func aKeyIsForOneAppChannelUserAndCertificate(_ text: String) {
        #expect(failure { try check(text, of: Self.issuer(app: "970ca35de60c44645bbae8a215061b34")) } == .wrong)
        #expect(failure { try check(text, of: Self.issuer(app: "other")) } == .wrong)
        #expect(failure { try check(text, for: Self.grant(channel: "other")) } == .wrong)
        #expect(failure { try check(text, for: Self.grant(uid: 1)) } == .wrong)
        #expect(failure { try check(text, of: Self.issuer(certificate: "other")) } == .wrong)
        let reversed = String(Self.certificate.reversed())
        #expect(failure { try check(text, of: Self.issuer(certificate: reversed)) } == .wrong)
    }

    @Test(arguments: DynamicKey.Version.allCases)
    func timesAreOver(_ version: DynamicKey.Version) throws {
        let ending = try Self.text(Self.key(version))
        #expect(failure { try check(ending, now: 1_446_455_471) } == .expired)
        let lasting = try Self.text(
            DynamicKey(version: version, appID: Self.app, timestamp: 1000, random: 0, expiry: 0))
        #expect(failure { try check(lasting, now: 1300) } == nil)
        #expect(failure { try check(lasting, now: 1301) } == .expired)
        // In a rejoin only the end of the service counts.
        #expect(failure { try check(lasting, isFresh: false, now: 1301) } == nil)
        #expect(failure { try check(ending, isFresh: false, now: 1_446_455_471) } == .expired)
        // For a key that is both wrong and over, the forgery is reported.
        #expect(failure { try check(ending, for: Self.grant(uid: 1), now: 1_446_455_471) } == .wrong)
    }

    @Test(arguments: [call, call003, call005])
    func eachLetterCounts(_ text: String) {
        let bytes = Array(text.utf8)
        for index in bytes.indices {
            for other in ["0", "z", "=", "-"] where bytes[index] != other.utf8.first {
                var changed = bytes
                changed[index] = other.utf8.first ?? 0
                let found = failure { try check(String(decoding: changed, as: UTF8.self)) }
                #expect(found == .wrong || found == .malformed, "\(index) \(other)")
            }
        }
        for length in bytes.indices {
            #expect(
                failure { try check(String(decoding: bytes[..<length], as: UTF8.self)) } == .malformed,
                "\(length)")
        }
    }

    @Test func malformedKeysAreRefused() {
        for text in [
            "", "004", Self.call + "1", "003" + Self.call.dropFirst(3), "006" + Self.call.dropFirst(3),
            // Versions 001 and 002 begin with their signature.
            String(Self.call.dropFirst(3)), "004" + String(repeating: "é", count: 50),
            Self.call.replacing("1446455472", with: "144645547x"),
            Self.call.replacing("1446455472", with: "+446455472"),
            Self.call003.replacing("2882341273", with: "-882341273"),
            Self.call005 + "A", Self.call005 + "=", Self.call005.replacing("==", with: ""),
            "005", "005AA==", "005" + String(repeating: "A", count: DynamicKey.maxLength - 3),
            "005" + String(repeating: "A", count: DynamicKey.maxLength + 1),
        ] {
            #expect(failure { try check(text) } == .malformed, "\(text)")
        }
    }

    /// Keys of version 005 may contain permissions, which the signature covers.
    @Test func permissionsAreRead() {
        // Service 1 with the permissions {1: "0", 2: "x"}; service 4 without; made by a program of its own.
        #expect(failure { try check(Self.withPermissions) } == nil)
        #expect(failure { try check(Self.inChannelPermission) } == .wrong)
    }

    private static let withPermissions =
        "005AQAoADMxNjY5NzQzNDhDRDM5QzE1NEVCMjQzQkQyMzZEM0MzRjdBN0I2OUEQAJcMo13mDERkW7roohUGGzOwKDdW9buDA68oN"
        + "1YCAAEAAQAwAgABAHg="
    private static let inChannelPermission =
        "005BAAoADEwNEUyMTQ3NDIwQzQ2MjUzRUFCRjM5MDQ4MTVCN0RENEZGODY1QjcQAJcMo13mDERkW7roohUGGzOwKDdW9buDA68oN1YAAA=="

    @Test func anAppMayLetUsersInWithoutAKey() throws {
        func admit(_ text: String?, isRequired: Bool) throws(DynamicKeyError) -> Int64 {
            try DynamicKey.admit(text, for: Self.grant(), of: Self.issuer(), isRequired: isRequired, now: 1_446_455_470)
        }
        for none in [nil, "", Self.app] {
            #expect(try admit(none, isRequired: false) == 0)
            #expect(throws: DynamicKeyError.required) { try admit(none, isRequired: true) }
        }
        for isRequired in [true, false] {
            #expect(try admit(Self.call, isRequired: isRequired) == 1_446_455_471)
            #expect(throws: DynamicKeyError.malformed) { try admit("x", isRequired: isRequired) }
            #expect(throws: DynamicKeyError.wrong) {
                try admit(Self.call.replacing("004d", with: "004e"), isRequired: isRequired)
            }
        }
    }

    @Test func partsThatDoNotFitAreRefused() {
        for version in DynamicKey.Version.allCases {
            for key in [
                DynamicKey(version: version, appID: "short", timestamp: 0, random: 0, expiry: 0),
                DynamicKey(version: version, appID: Self.app, timestamp: 10_000_000_000, random: 0, expiry: 0),
                DynamicKey(version: version, appID: Self.app, timestamp: 0, random: 0, expiry: -1),
            ] {
                #expect { try Self.text(key) } throws: { ($0 as? SignalingError)?.reason == .invalidKeyParts }
            }
        }
        #expect { try Self.text(Self.key(.v005), certificate: "no digits") } throws: {
            ($0 as? SignalingError)?.reason == .invalidKeyParts
        }
    }
}
