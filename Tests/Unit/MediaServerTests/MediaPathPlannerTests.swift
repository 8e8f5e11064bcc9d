import CMediaNode
import MediaLogic
import SignalingProtocol
import Testing

@testable import MediaServer

/// What participants' offers become.
@Suite struct MediaPathPlannerTests {
    private let planner = MediaPathPlanner(
        address: "192.0.2.1", port: 7000, fingerprint: [UInt8](repeating: 0xAB, count: 32), audioSlots: 6)

    private func plan(_ offer: MediaTransportOffer) throws(MediaRefusal) -> MediaPath {
        try planner.path(for: offer, of: ParticipantID("pid"))
    }

    @Test func anEngineHasKeysAndSlots() throws {
        var pair = cm_key_pair()
        try #require(cm_key_pair_make(&pair))
        let key = Base64.text(withUnsafeBytes(of: pair.public_key) { Array($0) })
        let path = try plan(.engine(publicKey: key, codecs: ["VP8", "opus"]))
        guard case .engine(let answer) = path.answer else {
            Issue.record("an engine's answer")
            return
        }
        #expect(answer.candidates == [MediaCandidate(transport: "udp", address: "192.0.2.1", port: 7000)])
        #expect(answer.suite == "AEAD_AES_128_GCM" && answer.opus == 111)
        #expect(answer.ufrag.utf8.count == 8 && answer.password.utf8.count == 24)
        #expect(answer.audioSlots.count == 6)
        #expect(Set(answer.audioSlots + [answer.audioSource, path.settings.report_ssrc]).count == 8)
        #expect(path.settings.kind == CM_ENGINE && path.settings.level_id == 1 && path.settings.transport_id == 0)
        #expect(path.settings.sources.0.ssrc == answer.audioSource && path.settings.source_count == 1)
        #expect(path.settings.slots.0.ssrc == answer.audioSlots[0] && path.settings.slot_count == 6)
        #expect(path.settings.ufrag_size == 8 && path.settings.password_size == 24 && path.settings.name_size == 16)
        // The other end derives the same keys.
        let peer = try #require(Base64.bytes(Substring(answer.publicKey)))
        var keys = cm_media_keys()
        let salt = Array("pid".utf8)
        let isDerived = salt.withUnsafeBufferPointer {
            cm_keys_derive(&keys, CM_SUITE_GCM_128, &pair, peer, cm_bytes(data: $0.baseAddress, size: $0.count))
        }
        #expect(isDerived)
        let (own, other) = (path.settings.keys, keys)
        #expect(withUnsafeBytes(of: own.client) { Array($0) } == withUnsafeBytes(of: other.client) { Array($0) })
        #expect(withUnsafeBytes(of: own.server) { Array($0) } == withUnsafeBytes(of: other.server) { Array($0) })
    }

    @Test func twoParticipantsHaveNothingInCommon() throws {
        let paths = try (0..<2).map { _ in try plan(.engine) }
        let secrets = paths.map { path in
            [
                withUnsafeBytes(of: path.settings.ufrag) { Array($0) },
                withUnsafeBytes(of: path.settings.password) { Array($0) },
                withUnsafeBytes(of: path.settings.keys.server) { Array($0) },
                withUnsafeBytes(of: path.settings.name) { Array($0) },
            ]
        }
        #expect(zip(secrets[0], secrets[1]).allSatisfy { $0 != $1 })
    }

    @Test func whatChromiumOffersIsAnswered() throws {
        let path = try plan(.web(offer: ChromiumOffer.text))
        let settings = path.settings
        #expect(settings.kind == CM_WEB && settings.opus == 111)
        #expect(settings.level_id == 1 && settings.transport_id == 3)
        #expect(settings.ids.mid == 4 && settings.ids.send_time == 2)
        #expect(settings.source_count == 1 && settings.sources.0.ssrc == ChromiumOffer.source)
        #expect(settings.sources.0.kind == CM_SOURCE_AUDIO)
        #expect(settings.slot_count == 2 && settings.slots.0.mid_size == 1)
        #expect(settings.slots.0.mid.0 == CChar(UInt8(ascii: "1")))
        #expect(settings.slots.1.mid.0 == CChar(UInt8(ascii: "2")))
        #expect(withUnsafeBytes(of: settings.fingerprint) { $0[0] == 0x85 && $0[31] == 0x29 })
        #expect(path.kept.sends && path.kept.hears)
        guard case .web(let answer) = path.answer else {
            Issue.record("a page's answer")
            return
        }
        // The answer is a description, with a section for each of the offer's.
        let read = try SDPDescription(answer)
        #expect(read.bundles == [["0", "1", "2"]])
        #expect(read.sections.map(\.direction) == [.recvOnly, .sendOnly, .sendOnly])
        #expect(read.sections[1].sources == [settings.slots.0.ssrc])
        #expect(answer.contains("a=candidate:1 1 udp ") && answer.contains(" 192.0.2.1 7000 typ host\r\n"))
        #expect(answer.contains("a=fingerprint:sha-256 AB:AB:"))
    }

    @Test func videoIsRejectedAndTheOthersAreTaken() throws {
        let video = """
            m=video 9 UDP/TLS/RTP/SAVPF 96
            c=IN IP4 0.0.0.0
            a=ice-ufrag:l55i
            a=ice-pwd:4Z+jBReptejTgy6V1bus9/RV
            a=setup:actpass
            a=mid:3
            a=sendonly
            a=rtcp-mux
            a=rtpmap:96 VP8/90000

            """.split(separator: "\n").map { $0 + "\r\n" }.joined()
        let offer = ChromiumOffer.text.replacing("BUNDLE 0 1 2", with: "BUNDLE 0 1 2 3") + video
        guard case .web(let answer) = try plan(.web(offer: offer)).answer else {
            Issue.record("a page's answer")
            return
        }
        let read = try SDPDescription(answer)
        #expect(read.sections.map(\.isRejected) == [false, false, false, true])
        #expect(read.bundles == [["0", "1", "2"]])
    }

    @Test(arguments: ["recvonly", "sendonly"]) func aPageMaySendOrHearOnly(_ direction: String) throws {
        let offer = ChromiumOffer.text.replacing("a=sendonly", with: "a=\(direction)").replacing(
            "a=recvonly", with: direction == "recvonly" ? "a=recvonly" : "a=inactive")
        let path = try plan(.web(offer: offer))
        #expect(path.kept.sends == (direction == "sendonly") && path.kept.hears == (direction == "recvonly"))
        #expect(path.settings.slot_count == (direction == "recvonly" ? 3 : 1))
        let allowed = path.settings(id: 1, channel: 1, uid: 1, flags: []).allowed
        #expect(allowed == UInt32(direction == "recvonly" ? CM_MAY_HEAR : CM_MAY_SEND_AUDIO))
    }

    @Test func mediaWithoutOpusIsUnsupported() {
        let offer = ChromiumOffer.text.replacing("opus/48000/2", with: "speex/48000/2")
        #expect(throws: MediaRefusal.unsupportedMedia) { try plan(.web(offer: offer)) }
    }
}
