import SignalingProtocol
import SignalingTokens
import Testing

@Suite struct DynamicKeyTests {
    private static let app = "970ca35de60c44645bbae8a215061b33"
    private static let certificate = "5cfd2fd1755d40ecb72977518be15d3b"
    private static let channel = "7d72365eb983485397e3e3f9d460bdda"
    private static let uid: UInt32 = 2_882_341_273
    private static let key = DynamicKey(
        appID: app, timestamp: 1_446_455_472, random: 58_964_981, expiry: 1_446_455_471)
    /// The published test vector.
    private static let call =
        "004d0ec5ee3179c964fe7c0485c045541de6bff332b970ca35de60c44645bbae8a215061b3314464554720383bbf51446455471"

    private func check(
        _ text: String, service: DynamicKey.Service = .call, app: String = Self.app, channel: String = Self.channel,
        uid: UInt32 = Self.uid, certificate: String = Self.certificate, now: Int64 = 1_446_455_470
    ) throws -> DynamicKey {
        try DynamicKey.check(
            text, for: DynamicKey.Grant(service, channel: channel, uid: uid), app: app, certificate: certificate,
            now: now)
    }

    private func code(_ act: () throws -> DynamicKey) -> SignalingCode? {
        do {
            _ = try act()
            return nil
        } catch {
            return (error as? SignalingError)?.code
        }
    }

    @Test func thePublicVector() throws {
        let text = try Self.key.text(
            for: DynamicKey.Grant(.call, channel: Self.channel, uid: Self.uid), certificate: Self.certificate)
        #expect(text == Self.call)
        #expect(text.utf8.count == DynamicKey.length)
        #expect(try check(text) == Self.key)
    }

    @Test func eachServiceHasKeysOfItsOwn() throws {
        for made in DynamicKey.Service.allCases {
            let text = try Self.key.text(
                for: DynamicKey.Grant(made, channel: Self.channel, uid: Self.uid), certificate: Self.certificate)
            for asked in DynamicKey.Service.allCases {
                #expect(code { try check(text, service: asked) } == (made == asked ? nil : .loginTokenWrong))
            }
        }
    }

    @Test func aKeyIsForOneAppChannelUserAndCertificate() {
        #expect(code { try check(Self.call, app: "970ca35de60c44645bbae8a215061b34") } == .loginTokenWrong)
        #expect(code { try check(Self.call, channel: "other") } == .loginTokenWrong)
        #expect(code { try check(Self.call, uid: 1) } == .loginTokenWrong)
        #expect(code { try check(Self.call, certificate: "other") } == .loginTokenWrong)
    }

    @Test func timesAreOver() throws {
        #expect(code { try check(Self.call, now: 1_446_455_471) } == .loginTokenExpired)
        let lasting = DynamicKey(appID: Self.app, timestamp: 1000, random: 0, expiry: 0)
        let text = try lasting.text(
            for: DynamicKey.Grant(.call, channel: Self.channel, uid: 1), certificate: Self.certificate)
        #expect(code { try check(text, uid: 1, now: 1300) } == nil)
        #expect(code { try check(text, uid: 1, now: 1301) } == .loginTokenExpired)
    }

    @Test func malformedKeysAreRefused() {
        for text in [
            "", "004", String(Self.call.dropLast()), Self.call + "1", "003" + Self.call.dropFirst(3),
            String(repeating: "é", count: 51) + "x", Self.call.replacing("1446455472", with: "144645547x"),
        ] {
            #expect(code { try check(text) } == .wrongParameter, "\(text)")
        }
    }

    @Test func partsThatDoNotFitAreRefused() {
        for key in [
            DynamicKey(appID: "short", timestamp: 0, random: 0, expiry: 0),
            DynamicKey(appID: Self.app, timestamp: 10_000_000_000, random: 0, expiry: 0),
            DynamicKey(appID: Self.app, timestamp: 0, random: 0, expiry: -1),
        ] {
            #expect(throws: SignalingError.self) {
                try key.text(for: DynamicKey.Grant(.call, channel: "c", uid: 1), certificate: "x")
            }
        }
    }
}
