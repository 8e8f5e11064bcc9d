import Testing

@testable import MediaLogic

@Suite struct SDPDescriptionTests {
    private func failure(_ text: String) -> SDPError? {
        do throws(SDPError) {
            _ = try SDPDescription(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func sectionsAreRead() throws {
        let description = try SDPDescription(Offer().text())
        #expect(description.bundles == [["0", "1", "2", "3", "4"]])
        #expect(description.sections.map(\.mid) == ["0", "1", "2", "3", "4"])
        let video = description.sections[1]
        #expect(video.kind == .video && video.direction == .sendOnly && video.isMultiplexed && !video.isRejected)
        #expect(video.codecs.map(\.payloadType) == [96, 97, 102, 103, 104])
        #expect(video.codecs.map(\.name) == ["vp8", "rtx", "h264", "rtx", "h264"])
        #expect(video.codecs[0].feedback == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
        // For all payload types at once.
        #expect(video.codecs[4].feedback == ["nack pli"])
        #expect(video.codecs[1].parameters == ["apt": "96"])
        #expect(video.extensions["urn:ietf:params:rtp-hdrext:sdes:mid"] == 4)
        #expect(video.extensions["http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"] == 2)
        #expect(description.sections[0].codecs[0].channels == 2)
    }

    @Test func linesMayEndWithLineFeedsAlone() throws {
        let offer = Offer()
        #expect(try SDPDescription(offer.text()) == SDPDescription(offer.text(end: "\n")))
        #expect(try SDPDescription(String(offer.text().dropLast())) == SDPDescription(offer.text()))
    }

    @Test func layersAndSourcesAreRead() throws {
        var offer = Offer()
        offer.sections[1].lines = [
            "a=rid:q send", "a=rid:h send max-width=640", "a=rid:x recv", "a=ssrc:7 cname:a", "a=ssrc:7 msid:a b",
            "a=ssrc:8 cname:a", "a=simulcast:send q;h",
        ]
        let section = try SDPDescription(offer.text()).sections[1]
        #expect(section.rids == ["q", "h"])
        #expect(section.sources == [7, 8])
    }

    @Test func boundsAreKept() {
        var offer = Offer()
        offer.head += [String](repeating: "a=x", count: SDPBounds.lines)
        #expect(failure(offer.text()) == .tooLarge)
        #expect(failure("v=0\n" + String(repeating: "a=x\n", count: SDPBounds.lines - 1)) == nil)
        #expect(failure("v=0\n" + String(repeating: "a=x\n", count: SDPBounds.lines)) == .tooLarge)
        #expect(failure("v=0\na=" + String(repeating: "x", count: SDPBounds.bytes - 6)) == nil)
        #expect(failure("v=0\na=" + String(repeating: "x", count: SDPBounds.bytes - 5)) == .tooLarge)
        let section = "m=audio 9 UDP/TLS/RTP/SAVPF 0\n"
        #expect(failure("v=0\n" + String(repeating: section, count: SDPBounds.sections)) == nil)
        #expect(failure("v=0\n" + String(repeating: section, count: SDPBounds.sections + 1)) == .tooLarge)
        let formats = (0...128).map { "\($0)" }.joined(separator: " ")
        #expect(failure("v=0\nm=video 9 X \(formats)") == .malformed(line: 2))
    }

    @Test func anOfferOfABrowserWithAllSlotsIsRead() throws {
        // As many lines as that of a browser whose codecs were not narrowed.
        var offer = Offer()
        offer.sections =
            [("audio", "sendonly", []), ("video", "sendonly", [])]
            + [(kind: String, direction: String, lines: [String])](repeating: ("audio", "recvonly", []), count: 6)
            + [(kind: String, direction: String, lines: [String])](repeating: ("video", "recvonly", []), count: 9)
        offer.bundle = (0..<17).map(String.init).joined(separator: " ")
        offer.video += [String](repeating: "a=rtcp-fb:104 goog-remb", count: 130)
        let text = offer.text()
        #expect((1700...2200).contains(text.utf8.count { $0 == UInt8(ascii: "\n") }))
        #expect(text.utf8.count < SDPBounds.bytes)
        #expect(try MediaOffer(text, audioSlots: 6, videoSlots: 9).sections.allSatisfy { $0.role != .none })
    }

    @Test func linesAreBytes() throws {
        // A mark that would join the character before it, and a line end within a line.
        #expect(try SDPDescription("v=0\r\ns=\u{301}a\r\na=setup:\u{301}x\r\n").setup == "\u{301}x")
        #expect(failure("v=0\ns=-\rx\n") == .malformed(line: 2))
        #expect(failure("v=0\ns=-\r\r\n") == .malformed(line: 2))
    }

    @Test func payloadTypesThatLookLikeRTCPAreNotOurs() throws {
        let types = "m=audio 9 UDP/TLS/RTP/SAVPF 63 64 95 96\n"
        let maps = "a=rtpmap:64 opus/48000/2\na=rtpmap:96 opus/48000/2\n"
        let section = try SDPDescription("v=0\n" + types + maps).sections[0]
        #expect(section.codecs.map(\.payloadType) == [63, 96])
        #expect(section.formats == ["63", "64", "95", "96"])
        // The first Opus of an offer is not taken when it is one of these.
        var offer = Offer()
        offer.audio.append("a=rtpmap:72 opus/48000/2")
        let text = offer.text().replacing("SAVPF 111 0", with: "SAVPF 72 111 0")
        #expect(try MediaOffer(text, audioSlots: 6, videoSlots: 9).sections[0].payloadTypes.opus == 111)
    }

    @Test func linesThatCannotBeReadAreNamed() {
        for line in [
            "", "x", "=", "a", "a:x", "m=audio", "m=audio 9 X", "m=audio x UDP 0", "m=audio 70000 UDP 0", "a=\u{1}",
            "a=x\u{7F}",
        ] {
            #expect(failure("v=0\ns=-\n\(line)\ns=-\n") == .malformed(line: 3), "\(line)")
        }
        for attribute in [
            "mid:", "mid:seventeen letters", "mid:0123456789abcdefg", "mid:a\"b", "rtpmap:x opus/48000",
            "rtpmap:200 a/1",
            "rtpmap:0 opus", "rtpmap:0 opus/0", "rtpmap:0 opus/48000/300", "rtpmap:0 a/b/c/d", "fmtp:0", "fmtp:x a=b",
            "rtcp-fb:nack", "rtcp-fb:x nack", "extmap:0 urn", "extmap:x urn", "extmap:1", "ssrc:x", "ssrc:4294967296 x",
            "rid:a", "rid:a/b send",
        ] {
            #expect(
                failure("v=0\nm=audio 9 UDP/TLS/RTP/SAVPF 0\na=\(attribute)\n") == .malformed(line: 3), "\(attribute)")
        }
        #expect(failure("") == .malformed(line: 1))
        #expect(failure("v=1\n") == .malformed(line: 1))
        #expect(failure("v=0\nv=0\n\n") == .malformed(line: 3))
    }

    @Test func everyTruncationIsReadOrRefused() {
        let bytes = Array(Offer().text().utf8)
        for count in stride(from: 0, to: bytes.count, by: 7) {
            _ = failure(String(decoding: bytes[..<count], as: UTF8.self))
        }
    }
}
