import SIPBridgeLogic
import TestKit
import Testing

@testable import SIPBridgeServer

@Suite("Media over loopback")
struct MediaSessionTests {
    @Test(
        "Two sessions exchange digits, plain and with SRTP",
        arguments: [
            (MediaSecurity.off, MediaSecurity.off, false), (.optional, .off, false), (.off, .optional, false),
            (.optional, .optional, true), (.required, .optional, true), (.optional, .required, true),
            (.required, .required, true),
        ])
    func digits(caller: MediaSecurity, callee: MediaSecurity, isSecure: Bool) async throws {
        let scene = MediaScene()
        let first = try await scene.add(caller)
        let second = try await scene.add(callee)
        try await scene.connect(first, second)
        #expect(try await scene.with(first) { $0.isSecure } == isSecure)
        #expect(try await scene.with(second) { $0.isSecure } == isSecure)
        try await scene.send("12#", from: first)
        try await scene.send("*D,0", from: second)
        try await eventually("digits are played") { await scene.completed() == [true, true] }
        try await eventually("digits arrive") {
            await [scene.heard(second), scene.heard(first)] == ["12#", "*D0"]
        }
        for index in [first, second] {
            let counts = try await scene.with(index) { $0.counts }
            #expect(counts.received > 20 && counts.sent > 20)
            #expect(counts.unauthentic == 0 && counts.strangers == 0 && counts.unsent == 0)
        }
        await scene.close()
    }

    @Test("The packets of a digit: one RTP sequence, silence around it, its end sent three times")
    func wire() async throws {
        let scene = MediaScene()
        let peer = try PeerSocket()
        let index = try await scene.add(inCallWith: peer)
        try await scene.send("7", from: index)
        var packets: [ParsedRTP] = []
        try await eventually("30 packets") {
            packets += peer.received().compactMap(ParsedRTP.init)
            return packets.count >= 30
        }
        await scene.close()
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.sequence == $0.sequence &+ 1 })
        #expect(Set(packets.map(\.source)).count == 1)
        let events = packets.filter { $0.type == 96 }
        #expect(events.map(\.marker) == [true] + Array(repeating: false, count: events.count - 1))
        #expect(Set(events.map(\.timestamp)).count == 1)
        #expect(events.filter { $0.payload[1] & 0x80 != 0 }.count == 3)
        #expect(events.allSatisfy { $0.payload[0] == 7 && $0.payload.count == 4 })
        let audio = packets.filter { $0.type == 0 }
        #expect(audio.count + events.count == packets.count)
        #expect(audio.allSatisfy { !$0.marker && $0.payload == Array(repeating: 0xFF, count: 160) })
        let start = try #require(packets.firstIndex { $0.type == 96 })
        let after = try #require(packets[start...].firstIndex { $0.type == 0 })
        #expect(packets[after].timestamp &- packets[start].timestamp >= UInt32(events.count) * 160)
        #expect((packets[after].timestamp &- packets[start].timestamp).isMultiple(of: 160))
    }

    @Test("A session stopped during a digit ends the digit and sends an RTCP BYE")
    func tearDown() async throws {
        let scene = MediaScene()
        let peer = try PeerSocket()
        let reports = try PeerSocket()
        let index = try await scene.add(inCallWith: peer, more: "a=rtcp:\(reports.port)\r\n")
        // So many digits that the session stops before the last of them, however slow the machine is.
        try await scene.send(String(repeating: "5", count: 100), from: index)
        var packets: [ParsedRTP] = []
        try await eventually("the digit begins") {
            packets += peer.received().compactMap(ParsedRTP.init)
            return packets.contains { $0.type == 96 }
        }
        try await scene.with(index) { $0.stop() }
        #expect(await scene.completed() == [false])
        packets += peer.received().compactMap(ParsedRTP.init)
        let last = try #require(packets.last { $0.type == 96 }).timestamp
        #expect(packets.filter { $0.type == 96 && $0.timestamp == last && $0.payload[1] & 0x80 != 0 }.count == 3)
        #expect(reports.received().contains { $0.count > 2 && $0[1] == 203 })
        await #expect(throws: MediaError.self) { try await scene.with(index) { try $0.makeOffer() } }
        await scene.close()
    }

    @Test("Media are accepted only from the SDP's address, or from the SIP peer's, which then also gets ours")
    func strangers() async throws {
        let scene = MediaScene()
        let peer = try PeerSocket()
        let stranger = try PeerSocket("127.0.0.2")
        let index = try await scene.add(inCallWith: peer)
        let port = try await scene.with(index) { $0.port }
        stranger.send(ParsedRTP.event(6, type: 96, sequence: 1, timestamp: 1), to: port)
        try await eventually("the stranger is seen") { try await scene.with(index) { $0.counts.strangers } == 1 }
        // Packets from another port of the peer's address are accepted, but replies go to the port in the SDP.
        let other = try PeerSocket()
        other.send(ParsedRTP.event(1, type: 96, sequence: 1, timestamp: 1), to: port)
        other.send([0x80, 0], to: port)
        try await eventually("the peer is heard") { await scene.heard(index) == "1" }
        _ = peer.received()
        try await eventually("the SDP's port gets our stream") { !peer.received().isEmpty }
        #expect(other.received().isEmpty)
        try await scene.with(index) { $0.signallingAddress = "127.0.0.2" }
        try await scene.receiveOffer(of: peer, by: index)
        stranger.send(ParsedRTP.event(2, type: 96, sequence: 2, timestamp: 2000), to: port)
        try await eventually("behind NAT") { await scene.heard(index) == "12" }
        try await eventually("our stream goes there") { !stranger.received().isEmpty }
        #expect(try await scene.with(index) { $0.counts.strangers } == 1)
        await scene.close()
    }

    @Test("Digits with another payload type than the negotiated one are ignored; RTP padding is removed")
    func payloadType() async throws {
        let scene = MediaScene()
        let peer = try PeerSocket()
        let index = try await scene.add()
        try await scene.receiveOffer(of: peer, by: index)
        let port = try await scene.with(index) { $0.port }
        peer.send(ParsedRTP.event(3, type: 101, sequence: 1, timestamp: 1), to: port)
        var padded = ParsedRTP.event(4, type: 96, sequence: 2, timestamp: 2) + [0, 0, 0, 4]
        padded[0] |= 0x20
        peer.send(padded, to: port)
        padded[padded.count - 1] = 200
        peer.send(padded, to: port)
        try await eventually("before the start, too") { await scene.heard(index) == "4" }
        try await eventually("bad padding") { try await scene.with(index) { $0.counts.malformed } == 1 }
        await scene.close()
    }

    @Test("On hold no packets are sent and digits wait; they are played afterwards")
    func hold() async throws {
        let scene = MediaScene()
        let peer = try PeerSocket()
        let index = try await scene.add(inCallWith: peer)
        try await eventually("silence") { !peer.received().isEmpty }
        try await scene.receiveOffer(of: peer, by: index, more: "a=sendonly\r\n")
        let before = try await scene.with(index) { $0.counts.sent }
        try await scene.send("8", from: index)
        try await letPass(.milliseconds(200), "in the time of ten packets none is sent")
        #expect(try await scene.with(index) { $0.counts.sent } == before)
        #expect(await scene.completed().isEmpty)
        _ = peer.received()
        try await scene.receiveOffer(of: peer, by: index)
        try await eventually("the digit") { await scene.completed() == [true] }
        #expect(peer.received().compactMap(ParsedRTP.init).contains { $0.type == 96 && $0.marker })
        await scene.close()
    }

    @Test("Digits fail before the call is up, and when the peer stops accepting telephone-event")
    func unavailable() async throws {
        let scene = MediaScene()
        let peer = try PeerSocket()
        let index = try await scene.add()
        await #expect(throws: DTMFError.unavailable) { try await scene.send("1", from: index) }
        try await scene.receiveOffer(of: peer, by: index)
        try await scene.with(index) { $0.start() }
        try await scene.send("1111111111", from: index)
        try await scene.with(index) {
            _ = try $0.receiveOffer(Array(peer.sdp.replacing("0 96", with: "0").utf8))
        }
        #expect(await scene.completed() == [false])
        await #expect(throws: DTMFError.unavailable) { try await scene.send("1", from: index) }
        await scene.close()
    }

    @Test("Unencrypted packets in an SRTP call are dropped")
    func unauthentic() async throws {
        let scene = MediaScene()
        let first = try await scene.add(.required)
        let second = try await scene.add(.required)
        try await scene.connect(first, second)
        let port = try await scene.with(second) { $0.port }
        try PeerSocket().send(ParsedRTP.event(3, type: 101, sequence: 1, timestamp: 1), to: port)
        try await eventually("dropped") { try await scene.with(second) { $0.counts.unauthentic } == 1 }
        #expect(await scene.heard(second) == "")
        await scene.close()
    }

    @Test("Ports are taken from the range; an exhausted range is an error")
    func ports() async throws {
        let scene = MediaScene()
        let ports = try #require(MediaPorts("39100-39101"))
        let index = try await scene.add(ports: ports)
        #expect(try await scene.with(index) { $0.port } == 39_100)
        await #expect(throws: MediaError.self) { try await scene.add(ports: ports) }
        for text in ["", "1", "39101-39102", "39100-39100", "39102-39101", "80-90", "39100-70000", "39100-39101-1"] {
            #expect(MediaPorts(text) == nil)
        }
        await scene.close()
    }
}
