import MediaLogic
import SignalingProtocol
import Testing

@Suite struct MediaOfferTests {
    private func judge(_ offer: Offer, audioSlots: Int = 6, videoSlots: Int = 9) throws(SDPError) -> MediaOffer {
        try MediaOffer(offer.text(), audioSlots: audioSlots, videoSlots: videoSlots)
    }

    private func failure(_ offer: Offer) -> SDPError? {
        do throws(SDPError) {
            _ = try judge(offer)
            return nil
        } catch {
            return error
        }
    }

    private static let answer = MediaAnswer(
        ufrag: "serverfr", password: "serverpasswordserverpass", fingerprint: [UInt8](repeating: 0xA, count: 32),
        candidates: [
            MediaAnswer.Candidate(.udp, address: "192.0.2.1", port: 4000),
            MediaAnswer.Candidate(.tcp, address: "192.0.2.1", port: 4000),
        ],
        audioSlots: [MediaAnswer.Slot(ssrc: 100), MediaAnswer.Slot(ssrc: 101)],
        videoSlots: [MediaAnswer.Slot(ssrc: 200, retransmission: 201)], name: "receiver")

    @Test func anOfferHasOneUplinkOfAKindAndSlots() throws {
        let offer = try judge(Offer())
        #expect(offer.sections.map(\.role) == [.uplink, .uplink, .slot(0), .slot(1), .slot(0)])
        #expect(offer.fingerprint == (0..<32).map { $0 })
        #expect(offer.sections[0].payloadTypes.opus == 111)
        let video = offer.sections[1].payloadTypes
        #expect(
            video.vp8 == 96 && video.vp8Retransmission == 97 && video.h264 == 102 && video.h264Retransmission == 103)
    }

    @Test func moreSlotsThanThereAreAreRejected() throws {
        let offer = try judge(Offer(), audioSlots: 1, videoSlots: 0)
        #expect(offer.sections.map(\.role) == [.uplink, .uplink, .slot(0), .none, .none])
    }

    @Test func whatIsNotForwardedIsRejected() throws {
        var offer = Offer()
        offer.video = ["a=rtpmap:96 VP9/90000", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96"]
        offer.sections[3].direction = "inactive"
        #expect(try judge(offer).sections.map(\.role) == [.uplink, .none, .slot(0), .none, .none])
        offer.audio = ["a=rtpmap:111 opus/48000"]
        #expect(failure(offer) == .unsuitable(.codecs))
        offer = Offer()
        // Two sections that are no media of ours are none of our business, whatever their transport.
        let more = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:5\r\nm=video 0 RTP/AVP 96\r\n"
        let sections = try MediaOffer(offer.text() + more, audioSlots: 6, videoSlots: 9).sections
        #expect(sections.suffix(2).map(\.role) == [.none, .none])
    }

    @Test func mediaInNoCodecOfOursIsUnsupported() {
        var offer = Offer()
        offer.sections = [("audio", "sendonly", [])]
        offer.bundle = "0"
        offer.audio = ["a=rtpmap:0 PCMU/8000"]
        #expect(failure(offer) == .unsuitable(.codecs))
        #expect(failure(offer)?.refusal == .unsupportedMedia)
        #expect(failure(offer)?.refusal.code == 4)
        // A codec of ours that the peer neither sends nor wants is another matter.
        offer = Offer()
        offer.sections = [("audio", "inactive", [])]
        offer.bundle = "0"
        #expect(failure(offer) == .unsuitable(.nothing))
        #expect(failure(offer)?.refusal == .badOffer && failure(offer)?.refusal.code == 2)
        #expect(SDPError.tooLarge.refusal == .badOffer && SDPError.malformed(line: 1).refusal == .badOffer)
    }

    @Test func checksNeedCredentials() {
        func changed(_ from: String, _ to: String) -> Offer {
            var offer = Offer()
            offer.transport = offer.transport.map { $0.replacing(from, with: to) }
            return offer
        }
        let (name, password) = ("ice-ufrag:abcd", "ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa")
        for offer in [
            changed(name, "x"), changed(password, "x"), changed(name, "ice-ufrag:abc"), changed(name, "ice-ufrag:ab-d"),
            changed(password, "ice-pwd:" + String(repeating: "a", count: 21)),
            changed(password, "ice-pwd:" + String(repeating: "a", count: 257)),
        ] {
            #expect(failure(offer) == .unsuitable(.ice))
            #expect(failure(offer)?.refusal == .badOffer)
        }
        #expect(failure(changed(name, "ice-ufrag:" + String(repeating: "+/", count: 128))) == nil)
        // Once for all sections: for the session, or in the first section of the bundle.
        var offer = changed(name, "x")
        offer.head.append("a=ice-ufrag:abcd")
        #expect(failure(offer) == .unsuitable(.ice), "both in one place")
        offer.head.append("a=" + password)
        #expect(failure(offer) == nil)
        offer = changed(name, "x")
        offer.sections[0].lines = ["a=" + name]
        #expect(failure(offer) == nil)
    }

    @Test func unsuitableOffers() {
        func changed(_ from: String, _ to: String) -> Offer {
            var offer = Offer()
            offer.transport = offer.transport.map { $0.replacing(from, with: to) }
            return offer
        }
        #expect(failure(changed("sha-256", "sha-1")) == .unsuitable(.fingerprint))
        #expect(failure(changed(":1F", ":1")) == .unsuitable(.fingerprint))
        #expect(failure(changed(":1F", "")) == .unsuitable(.fingerprint))
        #expect(failure(changed(":1F", ":1G")) == .unsuitable(.fingerprint))
        var offer = Offer()
        offer.sections[4].lines = ["a=fingerprint:sha-256 " + Offer.fingerprint.replacing("1F", with: "FF")]
        #expect(failure(offer) == .unsuitable(.fingerprint))
        #expect(failure(changed("actpass", "passive")) == .unsuitable(.setup))
        #expect(failure(changed("actpass", "active")) == nil)
        #expect(failure(changed("a=setup:actpass", "a=x")) == .unsuitable(.setup))
        #expect(failure(changed("rtcp-mux", "x")) == .unsuitable(.transport))
        offer = Offer()
        offer.bundle = "0 1 2 3"
        #expect(failure(offer) == .unsuitable(.bundle))
        offer = Offer()
        offer.sections[4].lines = ["a=mid:0"]
        #expect(failure(offer) == .unsuitable(.bundle))
        offer = Offer()
        offer.sections[2].direction = "sendonly"
        #expect(failure(offer) == .unsuitable(.senders))
        offer.sections = []
        offer.head.append("a=fingerprint:sha-256 \(Offer.fingerprint)")
        #expect(failure(offer) == .unsuitable(.nothing))
    }

    @Test func theAnswerMatchesTheOffer() throws {
        let text = Self.answer.text(to: try judge(Offer()))
        #expect(text.hasSuffix("\r\n") && !text.contains("\r\n\r\n"))
        // Our own reader takes it for a description with the same sections.
        let answer = try SDPDescription(text)
        #expect(answer.bundles == [["0", "1", "2", "3", "4"]])
        #expect(answer.sections.map(\.mid) == ["0", "1", "2", "3", "4"])
        #expect(answer.sections.map(\.direction) == [.recvOnly, .recvOnly, .sendOnly, .sendOnly, .sendOnly])
        #expect(answer.sections.allSatisfy { $0.isMultiplexed && $0.setup == "passive" })
        #expect(answer.sections[1].codecs.map(\.payloadType) == [96, 97, 102, 103])
        // Feedback that was offered: to a sender the transport-wide one, to a receiver REMB.
        #expect(answer.sections[1].codecs[0].feedback == ["transport-cc", "ccm fir", "nack", "nack pli"])
        #expect(answer.sections[4].codecs[0].feedback == ["goog-remb", "ccm fir", "nack", "nack pli"])
        #expect(answer.sections[4].codecs[2].feedback == ["nack pli"])
        #expect(answer.sections.map(\.sources) == [[], [], [100], [101], [200, 201]])
        #expect(answer.sections[0].extensions.values.sorted() == [1, 3, 4])
        #expect(answer.sections[2].extensions.values.sorted() == [2, 4])
        #expect(text.contains("a=ssrc-group:FID 200 201\r\n"))
        #expect(text.contains("a=candidate:1 1 udp 2130706431 192.0.2.1 4000 typ host\r\n"))
        #expect(text.contains("a=candidate:2 1 tcp 1526726399 192.0.2.1 4000 typ host tcptype passive\r\n"))
        #expect(text.contains("a=fingerprint:sha-256 \([String](repeating: "0A", count: 32).joined(separator: ":"))"))
        #expect(text.contains("a=ice-lite\r\n") && text.contains("a=fmtp:111 minptime=10;useinbandfec=1\r\n"))
    }

    @Test func rejectedSectionsStayInTheAnswer() throws {
        let answer = try SDPDescription(Self.answer.text(to: try judge(Offer(), audioSlots: 1, videoSlots: 0)))
        #expect(answer.sections.count == 5)
        #expect(answer.sections.map(\.isRejected) == [false, false, false, true, true])
        #expect(answer.bundles == [["0", "1", "2"]])
    }

    @Test func layersAreNotAccepted() throws {
        var offer = Offer()
        offer.sections[1].lines = [
            "a=rid:q send", "a=rid:h send", "a=simulcast:send q;h",
            "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
            "a=extmap:11 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id",
        ]
        let judged = try judge(offer)
        #expect(judged.sections[1].role == .uplink)
        let text = Self.answer.text(to: judged)
        #expect(!text.contains("rid") && !text.contains("simulcast") && !text.contains("rtp-stream-id"))
    }
}
