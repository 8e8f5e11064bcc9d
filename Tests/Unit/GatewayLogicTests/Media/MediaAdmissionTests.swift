import BusProtocol
import GatewayLogic
import SignalingProtocol
import SignalingTokens
import Testing

@Suite struct MediaAdmissionTests {
    private static let now: Int64 = 1_446_455_471
    private static let certificate = "5cfd2fd1755d40ecb72977518be15d3b"
    private let app: AppID

    init() throws { app = try AppID("970ca35de60c44645bbae8a215061b33") }

    private func admit(
        _ key: String?, uid: UInt32 = 7, certificate: String = certificate, isRequired: Bool = true,
        now: Int64 = now
    ) throws -> Int64 {
        try MediaAdmission.check(
            key, for: uid, in: MediaChannelKey(app: app, name: MediaChannelName("room")),
            settings: AppSettings(certificate: certificate, tokenRequired: isRequired), now: now)
    }

    private func key(
        _ version: DynamicKey.Version, _ service: DynamicKey.Service = .call, uid: UInt32 = 7, expiry: Int64 = now + 60
    ) throws -> String {
        try DynamicKey(version: version, appID: app.rawValue, timestamp: Self.now, random: 5, expiry: expiry)
            .text(for: DynamicKey.Grant(service, channel: "room", uid: uid), certificate: Self.certificate)
    }

    @Test(arguments: DynamicKey.Version.allCases) func keysOfEachVersion(version: DynamicKey.Version) throws {
        let key = try key(version)
        #expect(try admit(key) == Self.now + 60)
        #expect(throws: MediaRefusal.wrongKey) { try admit(key, uid: 8) }
        #expect(throws: MediaRefusal.wrongKey) { try admit(key, certificate: "6cfd2fd1755d40ecb72977518be15d3b") }
        #expect(throws: MediaRefusal.keyExpired) { try admit(key, now: Self.now + 60) }
        let endless = try self.key(version, expiry: 0)
        #expect(try admit(endless) == 0)
        #expect(throws: MediaRefusal.keyExpired) { try admit(endless, now: Self.now + DynamicKey.useWithin + 1) }
    }

    @Test func keysForOtherServicesDoNotAdmit() throws {
        let recording = try key(.v004, .recording)
        #expect(throws: MediaRefusal.wrongKey) { try admit(recording) }
        #expect(throws: MediaRefusal.malformedKey) { try admit("001abc") }
        #expect(throws: MediaRefusal.malformedKey) { try admit(String(repeating: "0", count: 2000)) }
    }

    @Test func aMissingKeyIsRefusedWhereOneIsRequired() throws {
        for missing in [nil, "", app.rawValue] {
            #expect(throws: MediaRefusal.keyRequired) { try admit(missing) }
            #expect(try admit(missing, isRequired: false) == 0)
        }
        // One that is there is always checked, as far as the app has a certificate.
        #expect(throws: MediaRefusal.malformedKey) { try admit("x", isRequired: false) }
        #expect(try admit("x", certificate: "", isRequired: false) == 0)
    }
}
