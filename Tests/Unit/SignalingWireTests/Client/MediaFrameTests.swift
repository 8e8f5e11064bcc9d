import SignalingProtocol
import Testing

@testable import SignalingWire

/// Media calls, their answers and events, compared with the golden files.
@Suite struct MediaFrameTests {
    static let line = "0123456789abcdef0123456789abcdef"
    private static let key = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="
    private static let callID = "00112233445566778899aabbccddeeff"
    private let participant = ParticipantID("f0e1d2c3b4a5968778695a4b3c2d1e0f")

    private func golden(_ name: String) throws -> ClientFrame {
        try ClientFrame(decoding: try Fixture.bytes("client/\(name).json"), line: Self.line)
    }

    private func joinRequest(_ change: (inout MediaJoinRequest) -> Void) throws -> MediaCall {
        var request = MediaJoinRequest(
            channel: try MediaChannelName("room 1"), uid: 0, key: nil, call: Self.callID, flags: [], info: "",
            transport: .web(offer: "v=0\r\n"), avoid: [])
        change(&request)
        return MediaCall(isOnItsLine: true, act: .join(request))
    }

    /// The outcome of a call with these arguments instead of those of a good join of an engine; nil leaves one out.
    private func refusal(_ changes: [(String, String?)]) throws -> MediaRefusal? {
        var members = [
            ("line", "\"\(Self.line)\""), ("channel", "\"c\""), ("uid", "7"), ("call", "\"\(Self.callID)\""),
            ("kind", "\"engine\""), ("pub", "\"\(Self.key)\""), ("codecs", "[\"opus\"]"),
        ]
        for (name, value) in changes {
            members.removeAll { $0.0 == name }
            if let value { members.append((name, value)) }
        }
        let object = members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        let frame = try ClientFrame(
            decoding: Array("[\"call2\",[\"media.join\",1,{\(object)}]]".utf8), line: Self.line)
        guard case .media(let request) = frame else { throw FrameError(.shape, "no media call") }
        guard case .failure(let refusal) = request.call else { return nil }
        return refusal
    }

    @Test func goldenCalls() throws {
        #expect(try golden("media-hello") == .mediaHello(MediaHello(.object([JSONMember("vid", "app")]))))
        let engine = try joinRequest {
            $0.uid = 7
            $0.key = ""
            $0.flags = [.audioMuted]
            $0.transport = .engine(publicKey: Self.key, codecs: ["opus"])
        }
        #expect(try golden("media-join-engine") == .media(MediaRequest(id: "1", call: .success(engine))))
        #expect(
            try golden("media-join-web") == .media(MediaRequest(id: "2", call: .success(try joinRequest { _ in }))))
        let room = try MediaChannelName("room 1")
        let secret = "00000000000000000000000000000001"
        let offer = MediaTransportOffer.engine(publicKey: Self.key, codecs: ["opus"])
        for (name, id, act) in [
            ("media-leave", "3", MediaCall.Act.leave(room, participant)),
            ("media-resume", "4", .resume(room, participant, secret: secret)),
            ("media-restart", "5", .restart(room, participant, secret: secret, offer)),
            ("media-renew", "6", .renew(room, participant, key: "005AQAoAEJERTJD")),
            ("media-mute", "7", .mute(room, participant, MediaMute(audio: true))),
        ] {
            let call = MediaCall(isOnItsLine: true, act: act)
            #expect(try golden(name) == .media(MediaRequest(id: id, call: .success(call))), "\(name)")
        }
    }

    @Test func theLineIsThatOfTheConnection() throws {
        let bytes = try Fixture.bytes("client/media-leave.json")
        for line in ["", "another"] {
            guard case .media(let request) = try ClientFrame(decoding: bytes, line: line) else {
                return #expect(Bool(false), "no media call")
            }
            #expect(try request.call.get().isOnItsLine == false)
        }
    }

    @Test func otherNamesAreNoMediaCalls() throws {
        let frame = try ClientFrame(
            decoding: Array("[\"call2\",[\"media.fly\",1,{\"line\":\"\(Self.line)\"}]]".utf8), line: Self.line)
        guard case .call(let request) = frame, case .failure(let error) = request.call else {
            return #expect(Bool(false), "taken")
        }
        #expect(error.reason == .unknownFunction)
    }

    @Test func argumentsAtTheirBounds() throws {
        let name = String(repeating: "`", count: 64)
        let info = String(repeating: "i", count: MediaJoinRequest.infoBytes)
        let nodes = "[" + (0..<16).map { "\"n\($0)\"" }.joined(separator: ",") + "]"
        for good: [(String, String?)] in [
            [], [("uid", "0")], [("uid", "4294967295")], [("channel", "\"\(name)\"")], [("info", "\"\(info)\"")],
            [("avoid", nodes)], [("key", "null")], [("enabled", "1"), ("muted", "3")],
        ] {
            #expect(try refusal(good) == nil, "\(good)")
        }
    }

    @Test(
        arguments: [
            (MediaRefusal.invalidChannel, "channel", nil), (.invalidChannel, "channel", "5"),
            (.invalidChannel, "channel", "\"\""), (.invalidChannel, "channel", "\"a/b\""),
            (.invalidChannel, "channel", "\"é\""),
            (.invalidChannel, "channel", "\"\(String(repeating: "c", count: 65))\""),
            (.invalidUID, "uid", nil), (.invalidUID, "uid", "-1"), (.invalidUID, "uid", "4294967296"),
            (.invalidUID, "uid", "\"7\""), (.invalidUID, "uid", "1.5"),
            (.invalidArguments, "call", nil), (.invalidArguments, "call", "\"0011\""),
            (.invalidArguments, "call", "\"0011223344556677889gaabbccddeeff\""),
            (.invalidArguments, "kind", nil), (.invalidArguments, "kind", "\"phone\""),
            (.invalidArguments, "pub", nil), (.invalidArguments, "pub", "\"AAAA\""),
            (.invalidArguments, "pub", "\"\(key)=\""), (.invalidArguments, "codecs", nil),
            (.invalidArguments, "codecs", "[1]"), (.invalidArguments, "codecs", "[\"\"]"),
            (
                .invalidArguments, "codecs",
                "[" + Array(repeating: "\"opus\"", count: 17).joined(separator: ",") + "]"
            ),
            (.invalidArguments, "key", "7"), (.invalidArguments, "enabled", "2"), (.invalidArguments, "muted", "4"),
            (.invalidArguments, "muted", "true"),
            (.invalidArguments, "info", "\"\(String(repeating: "i", count: 4097))\""),
            (
                .invalidArguments, "avoid",
                "[" + Array(repeating: "\"n\"", count: 17).joined(separator: ",") + "]"
            ),
            (.invalidArguments, "avoid", "[\"a b\"]"),
        ] as [(MediaRefusal, String, String?)])
    func argumentsPastTheirBounds(expected: MediaRefusal, name: String, value: String?) throws {
        #expect(try refusal([(name, value)]) == expected)
    }

    @Test(
        arguments: [
            (MediaRefusal.unknownParticipant, "resume", ""), (.unknownParticipant, "resume", #","secret":"""#),
            (.unknownParticipant, "restart", #","kind":"web","offer":"v=0""#),
            (.invalidArguments, "restart", #","secret":"s""#), (.badOffer, "restart", #","secret":"s","kind":"web""#),
            (.invalidArguments, "renew", ""), (.invalidArguments, "renew", #","key":"""#),
            (.invalidArguments, "mute", ""), (.invalidArguments, "mute", #","audio":2"#),
            (.invalidArguments, "mute", #","audio":"1""#),
        ])
    func callsAboutParticipants(expected: MediaRefusal, function: String, more: String) throws {
        let frame = #"["call2",["media.\#(function)",1,{"line":"\#(Self.line)","channel":"c","pid":"p"\#(more)}]]"#
        guard case .media(let request) = try ClientFrame(decoding: Array(frame.utf8), line: Self.line) else {
            throw FrameError(.shape, "no media call")
        }
        #expect(throws: expected) { try request.call.get() }
    }

    @Test func aPageNeedsAnOffer() throws {
        #expect(try refusal([("kind", "\"web\"")]) == .badOffer)
        #expect(try refusal([("kind", "\"web\""), ("offer", "5")]) == .badOffer)
    }

    // MARK: - Answers

    private func expect(_ frame: [UInt8], is name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(text(frame) == text(try Fixture.bytes("server/\(name).json")), sourceLocation: sourceLocation)
    }

    @Test func goldenHellos() throws {
        try expect(ServerFrame.mediaHelloSucceeded(line: Self.line), is: "media-hello-ok")
        try expect(ServerFrame.mediaHelloFailed(.unknownApp), is: "media-hello-failed")
    }

    @Test func goldenAnswers() throws {
        let engine = EngineTransport(
            candidates: [MediaCandidate(transport: "udp", address: "192.0.2.1", port: 7000)], ufrag: "Ab3dEf7h",
            password: "abcdefghijklmnopqrstuvwx", publicKey: Self.key, suite: "AEAD_AES_128_GCM", audioSource: 1001,
            audioSlots: [2001, 2002], opus: 111)
        var joined = MediaJoined(
            uid: 7, secret: "00000000000000000000000000000001", epoch: 1_795_247_975_116, n: 1_795_247_975_116_084,
            users: [MediaUser(uid: 8, flags: [], age: 61_000), MediaUser(uid: 7, flags: .audioMuted, age: 0)],
            transport: .engine(engine))
        let node = MediaNodeID("media-1-0a1b2c3d")
        try expect(
            ServerFrame.mediaJoined(id: "1", participant, at: node, expiry: 0, joined), is: "reply-media-joined-engine")
        joined.transport = .web(answer: "v=0\r\n")
        try expect(
            ServerFrame.mediaJoined(id: "2", participant, at: node, expiry: 0, joined), is: "reply-media-joined-web")
        try expect(
            ServerFrame.mediaLeft(id: "3", MediaLeft(duration: 61_000, bytes: 480_000)), is: "reply-media-left")
        try expect(
            ServerFrame.mediaResumed(
                id: "4",
                MediaResumed(
                    keyUID: 0, n: 1_795_247_975_116_087,
                    users: [
                        MediaUser(uid: 8, flags: .audioMuted, age: 61_000),
                        MediaUser(uid: 7, flags: .audioMuted, age: 30_000),
                    ])), is: "reply-media-resumed")
        try expect(
            ServerFrame.mediaRestarted(id: "5", MediaRestarted(keyUID: 0, transport: .engine(engine))),
            is: "reply-media-restarted")
        try expect(ServerFrame.mediaRenewed(id: "6", expiry: 1_795_251_575), is: "reply-media-renewed")
        try expect(
            ServerFrame.mediaMuted(id: "7", MediaMuted(n: 1_795_247_975_116_088)), is: "reply-media-muted")
        try expect(ServerFrame.mediaMuted(id: "8", MediaMuted(n: nil)), is: "reply-media-muted-same")
        try expect(ServerFrame.mediaFailed(id: "3", .unknownParticipant), is: "reply-media-failed")
    }

    @Test func goldenEvents() throws {
        let channel = try MediaChannelName("room 1")
        for (event, name) in [
            (MediaEvent.joined(uid: 9, flags: [], n: 1_795_247_975_116_085), "media-joined"),
            (.left(uid: 9, reason: .quit, n: 1_795_247_975_116_086), "media-left"),
            (.state(uid: 8, flags: .audioMuted, n: 1_795_247_975_116_087), "media-state"),
            (
                .stats(
                    [MediaUplink(uid: 8, delay: 21, loss: 0), MediaUplink(uid: 9, delay: 40, loss: 3)],
                    n: 1_795_247_975_116_087),
                "media-stats"
            ),
            (.key, "media-key"), (.gone(.replaced), "media-gone"),
        ] {
            try expect(ServerFrame.mediaEvent(event, in: channel, for: participant), is: name)
        }
    }
}
