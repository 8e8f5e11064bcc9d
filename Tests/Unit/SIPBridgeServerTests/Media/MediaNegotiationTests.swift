import SIPBridgeLogic
import Testing

@testable import SIPBridgeServer

@Suite("Session descriptions")
struct MediaNegotiationTests {
    private func lines(_ description: [UInt8]) -> [String] {
        String(decoding: description, as: UTF8.self).split(separator: "\r\n").map(String.init)
    }

    private func version(_ description: [UInt8]) -> UInt32? {
        lines(description).first { $0.hasPrefix("o=") }.flatMap { UInt32($0.split(separator: " ")[2]) }
    }

    private func offer(_ media: String, session: String = "c=IN IP4 127.0.0.1\r\n") -> [UInt8] {
        Array("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\n\(session)t=0 0\r\n\(media)".utf8)
    }

    private let audio = """
        m=audio 40000 RTP/AVP 8 97\r\na=rtpmap:8 PCMA/8000\r\na=rtpmap:97 telephone-event/8000\r\na=fmtp:97 0-15\r\n
        """

    /// Runs one session through a script.
    private func script(
        _ security: MediaSecurity = .off, events: Bool = true, _ act: @escaping @SIPThread (MediaSession) throws -> Void
    ) async throws {
        let scene = MediaScene()
        let index = try await scene.add(security, events: events)
        do { try await scene.with(index, act) } catch {
            await scene.close()
            throw error
        }
        await scene.close()
    }

    @Test("The offer, line by line")
    func goldenOffer() async throws {
        try await script { session in
            let lines = lines(try session.makeOffer())
            let fields = lines[1].split(separator: " ")
            #expect(fields[0] == "o=-" && fields[2] == "1" && fields[3...] == ["IN", "IP4", "127.0.0.1"])
            #expect(
                [lines[0]] + lines[2...] == [
                    "v=0", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", "m=audio \(session.port) RTP/AVP 0 8 101",
                    "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000",
                    "a=fmtp:101 0-15", "a=sendrecv", "a=ptime:20",
                ])
            #expect(session.port.isMultiple(of: 2) && (16_384...32_766).contains(session.port))
        }
        try await script(events: false) { session in
            let lines = lines(try session.makeOffer())
            #expect(lines.contains("m=audio \(session.port) RTP/AVP 0 8"))
        }
    }

    @Test("An answer reuses the offered payload types, in the offer's order")
    func payloadTypes() async throws {
        try await script { session in
            let lines = lines(try session.receiveOffer(offer(audio)))
            #expect(lines.contains("m=audio \(session.port) RTP/AVP 8 97"))
            #expect(lines.contains("a=rtpmap:97 telephone-event/8000"))
            #expect(session.agreement?.outgoingEventType == 97)
            #expect(session.agreement?.incomingEventType == 97)
            #expect(session.agreement?.isALaw == true)
        }
    }

    @Test("Events are sent with the answer's payload type and received with the offered one")
    func asymmetricTypes() async throws {
        try await script { session in
            _ = try session.makeOffer()
            try session.receiveAnswer(
                offer("m=audio 40000 RTP/AVP 0 96\r\na=rtpmap:96 telephone-event/8000\r\n"))
            #expect(session.agreement?.outgoingEventType == 96)
            #expect(session.agreement?.incomingEventType == 101)
            #expect(session.agreement?.audioType == 0)
            // A later offer keeps the payload type on which we already receive.
            let again = lines(try session.makeOffer())
            #expect(again.contains("a=rtpmap:101 telephone-event/8000"))
        }
    }

    @Test("Telephone events at another clock rate than the codec's are not accepted")
    func clockRate() async throws {
        try await script { session in
            let answer = try session.receiveOffer(
                offer(
                    "m=audio 40000 RTP/AVP 0 100 102\r\na=rtpmap:100 telephone-event/48000\r\n"
                        + "a=rtpmap:102 telephone-event/8000\r\n"))
            #expect(lines(answer).contains("m=audio \(session.port) RTP/AVP 0 102"))
            #expect(session.agreement?.outgoingEventType == 102)
            _ = try session.receiveOffer(
                offer("m=audio 40000 RTP/AVP 0 100\r\na=rtpmap:100 telephone-event/48000\r\n"))
            #expect(!session.usesTelephoneEvent)
        }
        try await script(events: false) { session in
            let answer = try session.receiveOffer(offer(audio))
            #expect(lines(answer).contains("m=audio \(session.port) RTP/AVP 8"))
            #expect(!session.usesTelephoneEvent)
        }
    }

    @Test("Other media are rejected with port 0, keep their position, and are repeated in later offers")
    func unwantedMedia() async throws {
        try await script { session in
            let media = "m=video 5000 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n\(audio)m=audio 6000 RTP/AVP 0\r\n"
            for description in [try session.receiveOffer(offer(media)), try session.makeOffer()] {
                #expect(
                    lines(description).filter { $0.hasPrefix("m=") } == [
                        "m=video 0 RTP/AVP 0", "m=audio \(session.port) RTP/AVP 8 97", "m=audio 0 RTP/AVP 0",
                    ])
            }
        }
    }

    @Test("On hold, sendonly is answered with recvonly and inactive with inactive")
    func hold() async throws {
        try await script { session in
            for (offered, answered, isHold) in [
                ("sendrecv", "sendrecv", false), ("sendonly", "recvonly", true), ("inactive", "inactive", true),
                ("recvonly", "sendonly", true), ("sendrecv", "sendrecv", false),
            ] {
                let answer = try session.receiveOffer(offer(audio + "a=\(offered)\r\n"))
                #expect(lines(answer).contains("a=\(answered)"))
                #expect(session.isRemoteHold == isHold)
                #expect(session.agreement?.maySend == (offered == "sendrecv" || offered == "recvonly"))
            }
            // Hold in the old form of RFC 2543: the connection address 0.0.0.0.
            let peer = session.agreement?.peer
            #expect(peer?.port == 40_000)
            _ = try session.receiveOffer(offer(audio, session: "c=IN IP4 0.0.0.0\r\n"))
            #expect(session.isRemoteHold)
            #expect(session.agreement?.maySend == false)
            // The direction given for the whole session, not for the stream.
            let answer = try session.receiveOffer(offer(audio, session: "c=IN IP4 127.0.0.1\r\na=sendonly\r\n"))
            #expect(lines(answer).contains("a=recvonly"))
        }
    }

    @Test("The SDP's version rises only when something changed")
    func versions() async throws {
        try await script { session in
            var versions: [UInt32?] = []
            for direction in ["sendrecv", "sendrecv", "sendonly", "sendonly", "sendrecv"] {
                versions.append(version(try session.receiveOffer(offer(audio + "a=\(direction)\r\n"))))
            }
            versions.append(version(try session.makeOffer()))
            #expect(versions == [1, 1, 2, 2, 3, 3])
        }
    }

    @Test("A refused description leaves the session unchanged")
    func refused() async throws {
        try await script { session in
            let first = try session.receiveOffer(offer(audio))
            let agreement = session.agreement
            let refusals: [(MediaError.Code, [UInt8])] = [
                (.unacceptable, offer("m=audio 40002 RTP/AVP 9 18\r\n")),
                (.unacceptable, offer("m=audio 40002 RTP/AVP 101\r\na=rtpmap:101 telephone-event/8000\r\n")),
                (.unacceptable, offer("m=audio 0 RTP/AVP 0\r\n")),
                (.unacceptable, offer("m=image 40002 udptl t38\r\n")),
                (.unacceptable, offer("m=audio 40002 RTP/SAVP 0\r\n")),
                (.unacceptable, offer("m=audio 40002 UDP/TLS/RTP/SAVPF 0\r\n")),
                (.unacceptable, offer(audio, session: "")),
                (.unacceptable, offer(audio, session: "c=IN IP4 sip.example.com\r\n")),
                (.unacceptable, offer(audio, session: "c=IN IP6 ::1\r\n")),
                (.unacceptable, offer("")),
                (.malformed, Array("nonsense".utf8)),
                (.malformed, offer("m=audio\r\n")),
                (.tooLong, offer(audio + String(repeating: "a=x\r\n", count: 2000))),
            ]
            for (code, description) in refusals {
                do {
                    _ = try session.receiveOffer(description)
                    Issue.record("taken: \(String(decoding: description.prefix(300), as: UTF8.self))")
                } catch let error as MediaError {
                    #expect(error.code == code, "\(String(decoding: description.prefix(300), as: UTF8.self))")
                }
            }
            #expect(session.agreement == agreement)
            #expect(try session.receiveOffer(offer(audio)) == first)
        }
    }

    @Test("The answer in a 183 may be repeated or changed in the 200; without an offer it is refused")
    func answers() async throws {
        try await script { session in
            #expect(throws: MediaError.self) { try session.receiveAnswer(offer(audio)) }
            _ = try session.makeOffer()
            try session.receiveAnswer(offer(audio))
            #expect(session.agreement?.peer?.port == 40_000)
            try session.receiveAnswer(offer("m=audio 40008 RTP/AVP 0"))
            #expect(session.agreement?.peer?.port == 40_008)
            #expect(!session.usesTelephoneEvent)
            #expect(throws: MediaError.self) { try session.receiveAnswer(offer("m=audio 40008 RTP/AVP 18\r\n")) }
            #expect(session.agreement?.peer?.port == 40_008)
        }
    }

    @Test("a=rtcp names the address and port for RTCP")
    func reportPlace() async throws {
        try await script { session in
            _ = try session.receiveOffer(offer(audio + "a=rtcp:50001 IN IP4 127.0.0.3\r\n"))
            #expect(session.agreement?.peer?.reportAddress == "127.0.0.3")
            #expect(session.agreement?.peer?.reportPort == 50_001)
            _ = try session.receiveOffer(offer(audio))
            #expect(session.agreement?.peer?.reportPort == 40_001)
        }
    }

    // SRTP.

    private let crypto = "a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj|2^20\r\n"
    private let other = "a=crypto:2 F8_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj\r\n"

    @Test("`optional` offers RTP/AVP with a key, `required` offers RTP/SAVP, `off` offers no key")
    func cryptoOffers() async throws {
        for (security, profile) in [(MediaSecurity.off, "AVP"), (.optional, "AVP"), (.required, "SAVP")] {
            try await script(security) { session in
                let lines = lines(try session.makeOffer())
                #expect(lines.contains { $0.hasPrefix("m=audio \(session.port) RTP/\(profile) ") })
                #expect(
                    lines.contains { $0.hasPrefix("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:") } == (security != .off))
            }
        }
    }

    @Test("An answer uses the first usable key and its tag")
    func cryptoAnswer() async throws {
        for (security, profile) in [
            (MediaSecurity.optional, "AVP"), (.optional, "SAVP"), (.required, "SAVP"), (.required, "AVP"),
        ] {
            try await script(security) { session in
                let answer = try session.receiveOffer(offer("m=audio 40000 RTP/\(profile) 0\r\n\(other)\(crypto)"))
                #expect(lines(answer).contains("m=audio \(session.port) RTP/\(profile) 0"))
                #expect(lines(answer).filter { $0.hasPrefix("a=crypto:3 AES_CM_128_HMAC_SHA1_80 ") }.count == 1)
                #expect(session.isSecure)
                let refresh = lines(try session.makeOffer())
                #expect(refresh.contains("m=audio \(session.port) RTP/\(profile) 0"))
                #expect(refresh.contains { $0.hasPrefix("a=crypto:") })
            }
        }
        try await script { session in
            let answer = try session.receiveOffer(offer("m=audio 40000 RTP/AVP 0\r\n\(crypto)"))
            #expect(!lines(answer).contains { $0.hasPrefix("a=crypto") })
            #expect(!session.isSecure)
        }
    }

    @Test("Refused: no key where one is required, RTP/SAVP without a usable key, an answer with another tag")
    func cryptoRefused() async throws {
        try await script(.required) { session in
            #expect(throws: MediaError(code: .security, message: "the peer offers no usable SRTP key")) {
                try session.receiveOffer(offer("m=audio 40000 RTP/AVP 0\r\n"))
            }
            _ = try session.makeOffer()
            #expect(throws: MediaError.self) { try session.receiveAnswer(offer("m=audio 40000 RTP/AVP 0\r\n")) }
            #expect(throws: MediaError.self) {
                try session.receiveAnswer(offer("m=audio 40000 RTP/SAVP 0\r\n\(crypto)"))
            }
            #expect(session.agreement == nil)
        }
        try await script(.optional) { session in
            #expect(throws: MediaError.self) { try session.receiveOffer(offer("m=audio 40000 RTP/SAVP 0\r\n\(other)")) }
            _ = try session.makeOffer()
            try session.receiveAnswer(offer("m=audio 40000 RTP/AVP 0\r\n"))
            #expect(!session.isSecure)
            let again = lines(try session.makeOffer())
            #expect(!again.contains { $0.hasPrefix("a=crypto") })
        }
    }
}
