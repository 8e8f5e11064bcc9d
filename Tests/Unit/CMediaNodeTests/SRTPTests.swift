import CMedia
import CMediaNode
import CMediaPeer
import Testing

/// One direction of SRTP, which takes and returns bytes.
final class SRTPDirection {
    private let srtp: OpaquePointer

    init(_ suite: Suite, _ keyAndSalt: [UInt8]? = nil, isSending: Bool) throws {
        var made: OpaquePointer?
        #expect(cm_srtp_make(&made, suite.code, keyAndSalt ?? suite.keyAndSalt, isSending) == 0)
        srtp = try #require(made)
    }

    deinit { cm_srtp_free(srtp) }

    var counts: cm_srtp_counts { cm_srtp_counts(srtp) }

    func protect(_ packet: [UInt8], isReport: Bool = false, room: Int = Int(CM_SRTP_OVERHEAD)) -> [UInt8]? {
        var out = packet + [UInt8](repeating: 0xEE, count: Int(CM_SRTP_OVERHEAD))
        var count = packet.count
        let capacity = count + room
        let isProtected =
            isReport
            ? cm_srtp_protect_rtcp(srtp, &out, &count, capacity) : cm_srtp_protect(srtp, &out, &count, capacity)
        return isProtected ? Array(out[..<count]) : nil
    }

    func unprotect(_ packet: [UInt8], isReport: Bool = false) -> (verdict: cm_srtp_verdict, plain: [UInt8]) {
        var bytes = packet
        var count = packet.count
        let verdict =
            isReport ? cm_srtp_unprotect_rtcp(srtp, &bytes, &count) : cm_srtp_unprotect(srtp, &bytes, &count)
        return (verdict, verdict == CM_AUTHENTIC ? Array(bytes[..<count]) : [])
    }
}

@Suite struct SRTPTests {
    private func packet(_ sequence: UInt16, ssrc: UInt32 = 0xDECA_FBAD, fill: UInt8 = 0xAB) -> [UInt8] {
        [0x80, 0x0F] + big(sequence) + big(UInt32(960)) + big(ssrc) + [UInt8](repeating: fill, count: 40)
    }

    private func report(ssrc: UInt32 = 7) -> [UInt8] { [0x80, 201, 0, 1] + big(ssrc) }

    private func derived(_ suite: Suite, _ label: UInt8, _ count: Int) -> [UInt8] {
        let (key, salt) = (Array(suite.keyAndSalt[..<16]), Array(suite.keyAndSalt[16...]))
        var out = [UInt8](repeating: 0, count: count)
        #expect(cm_peer_derive(key, salt + [UInt8](repeating: 0, count: 14 - salt.count), label, &out, count))
        return out
    }

    private func seal(key: [UInt8], iv: [UInt8], header: [UInt8], plain: [UInt8]) -> [UInt8] {
        var out = [UInt8](repeating: 0, count: plain.count + 16)
        let isSealed = header.withUnsafeBufferPointer { header in
            plain.withUnsafeBufferPointer { plain in
                cm_peer_seal(
                    key, iv, cm_peer_text(data: header.baseAddress, size: header.count),
                    cm_peer_text(data: plain.baseAddress, size: plain.count), &out)
            }
        }
        #expect(isSealed)
        return header + out
    }

    private func masked(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] { zip(one, other).map { $0 ^ $1 } }

    /// RFC 3711, appendix B.3, for the derivation that the next test compares with.
    @Test func theDerivationIsThatOfTheVectors() {
        let (key, salt) = (hex("E1F97A0D3E018BE0D64FA32C06DE4139"), hex("0EC675AD498AFEEBB6960B3AABE6"))
        var out = [UInt8](repeating: 0, count: 20)
        #expect(cm_peer_derive(key, salt, 0, &out, 16))
        #expect(Array(out[..<16]) == hex("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(cm_peer_derive(key, salt, 2, &out, 14))
        #expect(Array(out[..<14]) == hex("30CBBC08863D8C85D49DB34A9AE1"))
        #expect(cm_peer_derive(key, salt, 1, &out, 20))
        #expect(out == hex("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
    }

    /// RFC 7714, section 16.1.1, whose keys are those of a session: the library's interface takes master keys.
    @Test func theSealIsThatOfTheVectors() {
        let sealed = seal(
            key: Array(0..<16), iv: hex("51753c6580c2726f20718414"), header: hex("8040f17b8041f8d35501a0b2"),
            plain: Array("Gallia est omnis divisa in partes tres".utf8))
        #expect(
            sealed
                == hex(
                    """
                    8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b
                    36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
                    """))
    }

    @Test func aPacketIsTheOneThatTheDocumentsDescribe() throws {
        let (sequence, ssrc): (UInt16, UInt32) = (0x1234, 0xCAFE_BABE)
        let plain = packet(sequence, ssrc: ssrc)
        let (header, payload) = (Array(plain[..<12]), Array(plain[12...]))
        let gcm = try SRTPDirection(.gcm, isSending: true)
        let iv = masked([0, 0] + big(ssrc) + [0, 0, 0, 0] + big(sequence), derived(.gcm, 2, 12))
        #expect(gcm.protect(plain) == seal(key: derived(.gcm, 0, 16), iv: iv, header: header, plain: payload))

        let counter = try SRTPDirection(.counter, isSending: true)
        let start = masked(
            [0, 0, 0, 0] + big(ssrc) + [0, 0, 0, 0] + big(sequence) + [0, 0], derived(.counter, 2, 14) + [0, 0])
        var cipher = payload
        #expect(cm_peer_counter(derived(.counter, 0, 16), start, &cipher, cipher.count))
        let (key, signed) = (derived(.counter, 1, 20), header + cipher + [0, 0, 0, 0])
        var code = [UInt8](repeating: 0, count: 20)
        #expect(cm_hmac_sha1(key, 20, signed, signed.count, &code))
        #expect(counter.protect(plain) == header + cipher + code[..<10])
    }

    @Test(arguments: Suite.allCases) func packetsAndReportsArrive(_ suite: Suite) throws {
        let (sender, receiver) = (try SRTPDirection(suite, isSending: true), try SRTPDirection(suite, isSending: false))
        let sealed = try #require(sender.protect(packet(1)))
        #expect(sealed.count == packet(1).count + suite.tagSize)
        #expect(receiver.unprotect(sealed) == (CM_AUTHENTIC, packet(1)))
        #expect(receiver.unprotect(sealed).verdict == CM_REPLAYED)
        let sealedReport = try #require(sender.protect(report(), isReport: true))
        #expect(sealedReport.count == report().count + suite.tagSize + 4)
        #expect(receiver.unprotect(sealedReport, isReport: true) == (CM_AUTHENTIC, report()))
        #expect(receiver.unprotect(sealedReport, isReport: true).verdict == CM_REPLAYED)
        let counts = receiver.counts
        #expect(counts.authentic == 2 && counts.replayed == 2 && counts.forged == 0)
        let other = try SRTPDirection(suite, suite.keyAndSalt.map { $0 ^ 1 }, isSending: false)
        #expect(other.unprotect(sealed).verdict == CM_FORGED)
    }

    @Test(arguments: Suite.allCases) func numbersWrapWithALatePacket(_ suite: Suite) throws {
        let (sender, receiver) = (try SRTPDirection(suite, isSending: true), try SRTPDirection(suite, isSending: false))
        let sequences: [UInt16] = [65533, 65534, 65535, 0, 1, 2]
        var sealed: [UInt16: [UInt8]] = [:]
        for sequence in sequences { sealed[sequence] = sender.protect(packet(sequence, fill: UInt8(sequence % 251))) }
        for sequence: UInt16 in [65533, 65535, 0, 1, 65534, 2] {
            let found = receiver.unprotect(try #require(sealed[sequence]))
            #expect(found == (CM_AUTHENTIC, packet(sequence, fill: UInt8(sequence % 251))), "\(sequence)")
        }
    }

    @Test(arguments: Suite.allCases) func aSenderMayBeLateOverAWrap(_ suite: Suite) throws {
        let (sender, receiver) = (try SRTPDirection(suite, isSending: true), try SRTPDirection(suite, isSending: false))
        for sequence: UInt16 in [65533, 65535, 0, 1, 65534, 2] {
            let sealed = try #require(sender.protect(packet(sequence)), "\(sequence)")
            #expect(receiver.unprotect(sealed) == (CM_AUTHENTIC, packet(sequence)), "\(sequence)")
        }
    }

    @Test(arguments: Suite.allCases) func forgeryChangesNothing(_ suite: Suite) throws {
        let (sender, receiver) = (try SRTPDirection(suite, isSending: true), try SRTPDirection(suite, isSending: false))
        let first = try #require(sender.protect(packet(65000)))
        #expect(receiver.unprotect(first).verdict == CM_AUTHENTIC)
        // A far-away number of the known source would count a wrap, if it were believed.
        for sequence: UInt16 in [1, 2, 3, 30_000, 64_999] {
            #expect(receiver.unprotect(packet(sequence)).verdict == CM_FORGED)
        }
        let second = try #require(sender.protect(packet(65001)))
        for index in second.indices {
            var changed = second
            changed[index] ^= 0x40
            #expect(receiver.unprotect(changed).verdict != CM_AUTHENTIC, "\(index)")
        }
        #expect(receiver.unprotect(second) == (CM_AUTHENTIC, packet(65001)))
        var forgedReport = try #require(sender.protect(report(), isReport: true))
        forgedReport[5] ^= 1
        #expect(receiver.unprotect(forgedReport, isReport: true).verdict == CM_FORGED)
        #expect(receiver.counts.authentic == 2)
    }

    @Test(arguments: Suite.allCases) func packetsThatAreNoneAreForged(_ suite: Suite) throws {
        let receiver = try SRTPDirection(suite, isSending: false)
        for count in 0...64 {
            let bytes = Array((packet(1) + packet(2))[..<count])
            #expect(receiver.unprotect(bytes).verdict == CM_FORGED, "\(count)")
            #expect(receiver.unprotect(bytes, isReport: true).verdict == CM_FORGED, "\(count)")
        }
        // With extension and sources beyond its end.
        #expect(receiver.unprotect([0x9F] + packet(1).dropFirst()).verdict == CM_FORGED)
    }

    @Test(arguments: Suite.allCases) func whatIsTooOldIsTold(_ suite: Suite) throws {
        let (sender, receiver) = (try SRTPDirection(suite, isSending: true), try SRTPDirection(suite, isSending: false))
        let window = UInt16(CM_SRTP_WINDOW)
        let old = try #require(sender.protect(packet(1000)))
        let late = try #require(sender.protect(packet(1001)))
        let newest = try #require(sender.protect(packet(1000 + window)))
        #expect(receiver.unprotect(newest).verdict == CM_AUTHENTIC)
        #expect(receiver.unprotect(late).verdict == CM_AUTHENTIC)
        #expect(receiver.unprotect(old).verdict == CM_BEHIND_WINDOW)
        #expect(receiver.counts.too_old == 1)
        #expect(sender.protect(packet(1000)) == nil, "too old to be sent")
    }

    @Test(arguments: Suite.allCases) func aNumberIsSentOnce(_ suite: Suite) throws {
        let sender = try SRTPDirection(suite, isSending: true)
        #expect(sender.protect(packet(5)) != nil)
        #expect(sender.protect(packet(5, fill: 1)) == nil)
        #expect(sender.protect(packet(6), room: Int(CM_SRTP_OVERHEAD) - 1) == nil, "no room")
        #expect(sender.protect(Array(packet(6)[..<11])) == nil)
        #expect(sender.protect(report(), isReport: true, room: Int(CM_SRTP_OVERHEAD) - 1) == nil, "no room")
        #expect(sender.protect(packet(6)) != nil)
    }

    @Test(arguments: Suite.allCases) func sourcesAreBounded(_ suite: Suite) throws {
        let (sender, receiver) = (try SRTPDirection(suite, isSending: true), try SRTPDirection(suite, isSending: false))
        for ssrc in UInt32(1000)..<1100 {
            #expect(receiver.unprotect(packet(1, ssrc: ssrc)).verdict == CM_FORGED, "strangers take no room")
        }
        for ssrc in UInt32(0)..<UInt32(CM_SRTP_SENT_SOURCES) {
            let sealed = try #require(sender.protect(packet(1, ssrc: ssrc)))
            let isTaken = ssrc < UInt32(CM_SRTP_RECEIVED_SOURCES)
            #expect(receiver.unprotect(sealed).verdict == (isTaken ? CM_AUTHENTIC : CM_TOO_MANY_SOURCES), "\(ssrc)")
        }
        #expect(sender.protect(packet(1, ssrc: 5000)) == nil)
        #expect(sender.protect(report(ssrc: 5000), isReport: true) == nil)
        let next = try #require(sender.protect(packet(2, ssrc: 3)))
        #expect(receiver.unprotect(next).verdict == CM_AUTHENTIC, "the known ones go on")
        let sealedReport = try #require(sender.protect(report(ssrc: 3), isReport: true))
        #expect(receiver.unprotect(sealedReport, isReport: true).verdict == CM_AUTHENTIC)
        #expect(receiver.counts.too_many_sources == UInt64(CM_SRTP_SENT_SOURCES - CM_SRTP_RECEIVED_SOURCES))
    }
}
