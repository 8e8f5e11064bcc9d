import Testing

@testable import MediaClient

/// Packets of others: of RFC 7714, with session keys, and of libsrtp (pylibsrtp 1.0.0, profile AEAD_AES_128_GCM), with
/// the master key 10 11 ... 1f and the master salt 20 21 ... 2b.
@Suite struct SRTPVectorTests {
    /// RFC 7714, section 16: key 00 01 ... 0f, salt "Quid pro quo".
    private static let cipher = SRTPCipher(key: Array(0..<16), salt: Array("Quid pro quo".utf8))

    @Test func rtpOfTheStandard() throws {
        // Section 16.1.1.
        let plain = unhex("8040f17b 8041f8d3 5501a0b2") + Array("Gallia est omnis divisa in partes tres".utf8)
        let sealed = unhex(
            "8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b "
                + "36de3adf8833899d 7f27beb1 6a9152cf 765ee439 0cce")
        var sender = SRTPSender(rtp: Self.cipher, rtcp: Self.cipher)
        #expect(try sender.rtp(plain) == sealed)
        var receiver = SRTPReceiver(rtp: Self.cipher, rtcp: Self.cipher)
        #expect(try receiver.rtp(sealed) == plain)
    }

    @Test func rtcpOfTheStandard() throws {
        // Section 17.1.
        let plain = unhex(
            "81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef "
                + "deadbeefdeadbeef")
        let sealed = unhex(
            "81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 "
                + "86303ded0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4")
        var sender = SRTPSender(rtp: Self.cipher, rtcp: Self.cipher, nextReport: 0x5D4)
        #expect(try sender.rtcp(plain) == sealed)
        var receiver = SRTPReceiver(rtp: Self.cipher, rtcp: Self.cipher)
        #expect(try receiver.rtcp(sealed) == plain)
    }

    @Test func sourcesAndExtensionStayReadable() throws {
        let header = "926f03e8 000ea600 01020304 aabbccdd 00000007 bede0001 10ff3200"
        let plain = unhex(header) + Array("a frame of opus audio".utf8)
        let sealed = unhex(
            header + "9b7cc78da77eb9527de56366ff1b7eb55350b76c3b869930ef7856da5683d645899157216f")
        var sender = SRTPSender(key: .tests)
        var receiver = SRTPReceiver(key: .tests)
        #expect(try sender.rtp(plain) == sealed)
        #expect(try receiver.rtp(sealed) == plain)
        let empty = unhex("806f03e9 000ea9c0 01020304")
        let sealedEmpty = unhex("806f03e9 000ea9c0 01020304 883071ac b6eb9681 fc7c7ab8 5ab8074d")
        #expect(try sender.rtp(empty) == sealedEmpty)
        #expect(try receiver.rtp(sealedEmpty) == empty)
    }

    /// Of one source: sequence number, packet, encrypted packet.
    private static let wrap: [(Int, [UInt8], [UInt8])] = [
        (20000, "806f4e200124f8000a0b0c0d", "ae0d5824c3da9ed777bce5c9e8cd74841ef9e27ecbfc1db8a0bba0d85c29"),
        (50000, "806fc35002dc6c000a0b0c0d", "b22caecbb242d4e7ececea1ba09f47adf2168287ec014569ffca2d211bdd"),
        (65534, "806ffffe03bff8800a0b0c0d", "f2736f90a48707ad88df785facc04146bd1ea9e1f108e2f2590ed82f75bf"),
        (65535, "806fffff03bffc400a0b0c0d", "605ea9f0c166e27dbea134ce805f6001ef2a8e0a76828a4a3749da91d714"),
        (0, "806f0000000000000a0b0c0d", "7f9caee768e59d333882bb19ce51bf08a22a82c417f024ae91f6e21cea78"),
        (1, "806f0001000003c00a0b0c0d", "af931261778e13be6ad2f2ea6d392743c75461c4dd0d4d5fdba5a0998c06"),
        (2, "806f0002000007800a0b0c0d", "2475e98d44f0e75cbaec8bd8ce43b2b93e7875dbe576b200ef7d2aa4bfab"),
    ].map { number, header, rest in
        let text = String(number)
        let payload = "sequence " + String(repeating: " ", count: 5 - text.count) + text
        return (number, unhex(header) + Array(payload.utf8), unhex(header + rest))
    }

    @Test func sequenceNumbersWrap() throws {
        var sender = SRTPSender(key: .tests)
        for (number, plain, sealed) in Self.wrap {
            #expect(try sender.rtp(plain) == sealed, "\(number)")
        }
        var receiver = SRTPReceiver(key: .tests)
        // 65,535 comes late, after the wrap.
        for place in [0, 1, 2, 4, 5, 3, 6] {
            #expect(try receiver.rtp(Self.wrap[place].2) == Self.wrap[place].1, "\(Self.wrap[place].0)")
        }
        #expect(receiver.refusal(rtp: Self.wrap[3].2) == .replayed)
    }

    @Test func reports() throws {
        // A receiver report and feedback as one packet. The first of libsrtp has the index 1.
        let plain = unhex(
            "81c90007 01020304 0a0b0c0d 00000000 00000000 00000000 00000000 00000000 00000000"
                + "80cd0002 01020304 0a0b0c0d")
        let sealed = [
            "9d0bd0d49a3923c68dcaea4de1a60c642a1eda768cc58024abae47e40eee4e82"
                + "7af8f07edf50ff7e98fc0cd4f47a84cb225de26071180209"
                + "80000001",
            "242bb57546036ebceecd034b3d4c0db27926dba7e35c621ceb17931383b1e26b"
                + "b5576037caa39efd549c8a279c2225b73251d3a8362443d7"
                + "80000002",
        ].map { unhex("81c90007 01020304" + $0) }
        var sender = SRTPSender(rtp: SRTPKey.tests.rtp, rtcp: SRTPKey.tests.rtcp, nextReport: 1)
        var receiver = SRTPReceiver(key: .tests)
        for packet in sealed {
            #expect(try sender.rtcp(plain) == packet)
            #expect(try receiver.rtcp(packet) == plain)
        }
    }
}
