import SignalingProtocol
import Testing

@testable import MediaClient

@Suite struct EngineKeysTests {
    private static let participant = "f0e1d2c3b4a5968778695a4b3c2d1e0f"
    /// The public key to the private key 65 66 ... 84.
    private static let node = "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtBDDY="

    /// By Python's cryptography, as Tests/Media/Support/media_keys.py uses it. A key is compared by what it encrypts.
    @Test func keysOfAKnownPair() throws {
        let pair = try #require(EngineKeyPair(privateKey: Array(1...32)))
        #expect(pair.publicKey == "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9/AsrhtHHw=")
        let keys = try pair.agree(publicKey: Self.node, participant: Self.participant)
        try expect(keys.client, unhex("dad8f99b6580e2977f69e1100cbb5cdd788a297880b87a8ca91f76e9"))
        try expect(keys.server, unhex("576632ffdcc2b190406b2b45c806ad0de6f955df66e3429df6a178ee"))
    }

    @Test func bothSidesHaveTheSameKeys() throws {
        let one = EngineKeyPair()
        let other = EngineKeyPair()
        let keys = try one.agree(publicKey: other.publicKey, participant: "a")
        try expectSame(keys.client, other.agree(publicKey: one.publicKey, participant: "a").client)
        try expectSame(keys.server, other.agree(publicKey: one.publicKey, participant: "a").server)
        let elsewhere = try other.agree(publicKey: one.publicKey, participant: "b")
        var receiver = SRTPReceiver(key: elsewhere.client)
        var sender = SRTPSender(key: keys.client)
        #expect(try receiver.refusal(rtp: sender.rtp(rtpPacket(1))) == .forged)
        #expect(one.publicKey != other.publicKey)
    }

    @Test(arguments: [
        "", "VxR2", "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtBDDY", "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtBDDY==",
        "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtBDDY=x", "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtBDDZ=",
        "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtBDDY= ", "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtB!DY=",
        Base64.text([UInt8](repeating: 9, count: 31)), Base64.text([UInt8](repeating: 9, count: 33)),
    ])
    func whatIsNoKey(_ text: String) {
        #expect(throws: EngineKeyError.notAKey) {
            try EngineKeyPair().agree(publicKey: text, participant: Self.participant)
        }
    }

    /// Points of low order: 0, 1, and the prime, with which each secret is zero. Source: RFC 7748, section 6.1.
    @Test(arguments: [
        [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
        [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
    ])
    func keysThatAllWouldShare(_ bytes: [UInt8]) {
        #expect(throws: EngineKeyError.sharedByAll) {
            try EngineKeyPair().agree(publicKey: Base64.text(bytes), participant: Self.participant)
        }
    }

    @Test func aPrivateKeyHas32Bytes() {
        #expect(EngineKeyPair(privateKey: Array(1...31)) == nil && EngineKeyPair(privateKey: Array(1...33)) == nil)
    }

    private func expect(_ key: SRTPKey, _ bytes: [UInt8]) throws {
        try expectSame(key, #require(SRTPKey(bytes)))
    }

    private func expectSame(_ one: SRTPKey, _ other: SRTPKey) throws {
        var sender = SRTPSender(key: one)
        var receiver = SRTPReceiver(key: other)
        #expect(try receiver.rtp(sender.rtp(rtpPacket(1))) == rtpPacket(1))
        #expect(try receiver.rtcp(sender.rtcp(rtcpPacket())) == rtcpPacket())
    }
}
