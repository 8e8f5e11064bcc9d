import BusProtocol
import SignalingProtocol
import Testing

/// The commands to media nodes, their replies, and the events of media channels, as they travel between processes.
@Suite struct MediaCommandsTests {
    private let channel: MediaChannelKey
    private let node = MediaNodeID("media-1-abc")
    private let participant = ParticipantID("p1")

    init() throws { channel = MediaChannelKey(app: try AppID("app"), name: try MediaChannelName("a room")) }

    private func expect<Value: FieldCodable & Equatable>(
        _ value: Value, _ fields: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var writer = FieldWriter()
        value.write(to: &writer)
        #expect(writer.pairs.map { "\($0.name)=\(text($0.value))" } == fields, sourceLocation: sourceLocation)
        #expect(try Value(from: FieldReader(encoded: writer.encoded)) == value, sourceLocation: sourceLocation)
        for index in writer.pairs.indices {
            var fewer = writer.pairs
            fewer.remove(at: index)
            // A missing field is an error unless it is one of several; it must never cause a crash.
            _ = try? Value(from: FieldReader(pairs: fewer))
        }
    }

    @Test func joins() throws {
        var join = JoinMedia(
            to: node, channel: channel, participant: participant, uid: 7, call: "c",
            flags: [.audioMuted, .videoEnabled],
            expiry: 9, info: "i", transport: .engine(publicKey: "k", codecs: ["opus", "VP8"]))
        let fields = [
            "node=media-1-abc", "app=app", "media_channel=a room", "pid=p1", "uid=7", "call=c", "flags=5", "expiry=9",
            "info=i",
        ]
        try expect(join, fields + ["kind=engine", "pub=k", "codec=opus", "codec=VP8"])
        join.transport = .web(offer: "v=0")
        try expect(join, fields + ["kind=web", "offer=v=0"])
        #expect(JoinMedia.service == .media && JoinMedia.operation == "media.join")
        #expect(join.node == node && join.subject == .mediaNode(node))
    }

    @Test func leaves() throws {
        let leave = LeaveMedia(from: node, channel: channel, participant: participant)
        try expect(leave, ["node=media-1-abc", "app=app", "media_channel=a room", "pid=p1"])
        #expect(LeaveMedia.service == .media && LeaveMedia.operation == "media.leave")
        #expect(leave.node == node && leave.subject == .mediaNode(node))
        try expect(MediaLeft(duration: 5, bytes: 6), ["duration=5", "bytes=6"])
    }

    @Test func callsAboutParticipants() throws {
        let head = ["node=media-1-abc", "app=app", "media_channel=a room", "pid=p1"]
        let mute = MuteMedia(
            to: node, channel: channel, participant: participant, change: MediaMute(audio: true, enabled: false))
        try expect(mute, head + ["audio=1", "enabled=0"])
        try expect(MediaMuted(n: 9), ["n=9"])
        // Also what a node of the release before replies.
        try expect(MediaMuted(n: nil), [])
        let resume = ResumeMedia(to: node, channel: channel, participant: participant, secret: "s")
        try expect(resume, head + ["secret=s"])
        try expect(
            RestartMedia(
                to: node, channel: channel, participant: participant, secret: "s", transport: .web(offer: "v=0")),
            head + ["secret=s", "kind=web", "offer=v=0"])
        let renew = RenewMedia(to: node, channel: channel, participant: participant, expiry: 9)
        try expect(renew, head + ["expiry=9"])
        #expect(mute.node == node && resume.node == node && renew.node == node)
        try expect(MediaResumed(keyUID: 0, n: 2, users: []), ["key_uid=0", "n=2", "users="])
        try expect(
            MediaRestarted(keyUID: 7, transport: .web(answer: "v=0")), ["key_uid=7", "kind=web", "answer=v=0"])
    }

    @Test func repliesToJoins() throws {
        let engine = EngineTransport(
            candidates: [], ufrag: "u", password: "p", publicKey: "k", suite: "s", audioSource: 1, audioSlots: [2, 3],
            opus: 111)
        let joined = MediaJoined(
            uid: 7, secret: "s", epoch: 1, n: 2, users: [], transport: .engine(engine))
        let head = ["uid=7", "secret=s", "epoch=1", "n=2", "users="]
        try expect(
            joined,
            head + [
                "kind=engine", "candidates=", "ufrag=u", "pwd=p", "pub=k", "suite=s", "audio=1", "slot=2", "slot=3",
                "opus=111",
            ])
        try expect(
            MediaJoined(uid: 7, secret: "s", epoch: 1, n: 2, users: [], transport: .web(answer: "v=0")),
            head + ["kind=web", "answer=v=0"])
        try expect(MediaUser(uid: 7, flags: .phone, age: 3), ["uid=7", "flags=16", "age=3"])
        try expect(
            MediaCandidate(transport: "udp", address: "::1", port: 7000), ["transport=udp", "address=::1", "port=7000"])
    }

    @Test func aChannelNameOutsideTheAlphabetIsRefused() throws {
        var writer = FieldWriter()
        LeaveMedia(from: node, channel: channel, participant: participant).write(to: &writer)
        let pairs = writer.pairs.map { $0.name == "media_channel" ? (name: $0.name, value: Array("a/b".utf8)) : $0 }
        #expect(throws: SignalingError.self) { try LeaveMedia(from: FieldReader(pairs: pairs)) }
    }

    @Test(arguments: [
        (MediaEvent.joined(uid: 7, flags: .phone, n: 9), "joined 7 16 9"),
        (.left(uid: 7, reason: .replaced, n: 9), "left 7 replaced 9"), (.state(uid: 7, flags: [], n: 9), "state 7 0 9"),
        (.gone(.limit), "gone limit"), (.key, "key"), (.stats([], n: 9), "stats 0 9"),
        (
            .stats([MediaUplink(uid: 7, delay: 20, loss: 1), MediaUplink(uid: 8, delay: 0, loss: 0)], n: 9),
            "stats 2 7 20 1 8 0 0 9"
        ),
    ])
    func events(event: MediaEvent, text: String) throws {
        for isLast in [false, true] {
            let publication = MediaPublication(
                participants: [ParticipantID("p1"), ParticipantID("p2")], isLast: isLast, channel: channel.name,
                event: event)
            let payload = GatewayEvent.media(publication).payload
            #expect(String(decoding: payload, as: UTF8.self) == "media \(isLast ? 1 : 0) 2 p1 p2 \(text) a room")
            #expect(try GatewayEvent(payload: payload) == .media(publication))
        }
    }

    @Test(arguments: [
        "media", "media 0", "media 0 1", "media 0 1 p1", "media 0 1 p1 joined 7 0", "media 0 1 p1 joined 7 0 9 ",
        "media 0 1 p1 joined 7 0 9 a/b", "media 0 -1 gone key c", "media 0 1 p1 left 7 asleep 9 c",
        "media 0 1 p1 gone home c", "media 0 1 p1 flown 7 c", "media 0 1 p1 joined 4294967296 0 9 c",
        "media 0 1 p1 joined 7 256 9 c", "media 0 1 p1 stats -1 c", "media 0 1 p1 stats 2 7 20 1 c",
    ])
    func badEvents(text: String) {
        #expect(throws: SignalingError.self) { try GatewayEvent(payload: Array(text.utf8)) }
    }
}
