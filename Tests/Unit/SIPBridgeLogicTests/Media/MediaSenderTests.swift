import Testing

@testable import SIPBridgeLogic

@Suite("The outgoing stream of a call")
struct MediaSenderTests {
    private func isSilence(_ packet: MediaSender.Packet) -> Bool { packet.content == .silence }

    @Test("A frame of silence each 20 ms, without marker, with a time stamp that rises by 160")
    func silence() {
        let first = UInt32.max - 159
        var sender = MediaSender(firstTimestamp: first, now: 1000, maySend: true)
        var packets: [MediaSender.Packet] = []
        for now in stride(from: Int64(1000), to: 1200, by: 5) { packets += sender.tick(now: now).packets }
        #expect(packets.count == 10)
        #expect(packets.allSatisfy { isSilence($0) && !$0.marker })
        #expect(packets.map(\.timestamp) == (0..<10).map { (frame: UInt32) in first &+ frame * 160 })
    }

    @Test("The media clock goes on over a digit")
    func clockOverDigit() throws {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        try sender.enqueue(try DTMFDigits("1"), id: 1)
        var packets: [MediaSender.Packet] = []
        var finished: [Int] = []
        for frame in 0..<20 {
            let output = sender.tick(now: Int64(frame) * 20)
            packets += output.packets
            finished += output.finished
        }
        #expect(packets.count == 20)
        #expect(packets.prefix(8).allSatisfy { $0.timestamp == 0 && !isSilence($0) })
        #expect(packets.dropFirst(8).map(\.timestamp) == (8..<20).map { UInt32($0) * 160 })
        #expect(packets.filter(\.marker).count == 1)
        #expect(finished == [1])
    }

    @Test("A loop that was late catches up a little, and skips what is older without bending the clock")
    func late() {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        var sent: [[UInt32]] = []
        for now: Int64 in [0, 59, 2000, 2000, 1990] { sent.append(sender.tick(now: now).packets.map(\.timestamp)) }
        #expect(sent == [[0], [160, 320], [15_360, 15_520, 15_680, 15_840, 16_000], [], []])
    }

    @Test("On hold nothing is sent, digits wait, and the clock goes on")
    func hold() throws {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        try sender.enqueue(try DTMFDigits("12"), id: 1)
        _ = sender.tick(now: 0)
        let flushed = sender.change(maySend: false, takesDigits: true)
        #expect(flushed.packets.count == 3)
        #expect(flushed.packets.allSatisfy { $0.timestamp == 0 && !$0.marker })
        var held = 0
        for now in stride(from: Int64(20), through: 10_000, by: 20) { held += sender.tick(now: now).packets.count }
        #expect(held == 0)
        let resumed = sender.change(maySend: true, takesDigits: true)
        #expect(resumed == MediaSender.Output())
        let first = sender.tick(now: 10_020).packets
        #expect(
            first == [
                MediaSender.Packet(
                    content: .event(DTMFPacket(event: 2, isEnd: false, duration: 160)), marker: true,
                    timestamp: 501 * 160)
            ])
    }

    @Test("A peer that takes no digits any more: they are dropped, and said to be")
    func noMoreDigits() throws {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        try sender.enqueue(try DTMFDigits("1"), id: 1)
        try sender.enqueue(try DTMFDigits("2"), id: 2)
        _ = sender.tick(now: 0)
        let output = sender.change(maySend: true, takesDigits: false)
        #expect(output.packets.count == 3)
        #expect(output.unfinished == [1, 2])
        let after = sender.tick(now: 20)
        #expect(after.packets.map(\.content) == [.silence])
    }

    @Test("At the end of the call an event is ended")
    func end() throws {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        try sender.enqueue(try DTMFDigits("1"), id: 1)
        _ = sender.tick(now: 40)
        let output = sender.abandonDigits()
        let end = MediaSender.Packet(content: .event(DTMFPacket(event: 1, isEnd: true, duration: 480)), timestamp: 0)
        #expect(output.packets == [end, end, end])
        #expect(output.unfinished == [1])
    }
}

@Suite("RTP time-outs")
struct MediaWatchTests {
    @Test("30 s for the first packet, 60 s after")
    func limits() {
        var watch = MediaWatch(now: 1000, isExpecting: true)
        #expect(!watch.isExpired(now: 30_999))
        #expect(watch.isExpired(now: 31_000))
        watch.received(now: 30_000)
        #expect(!watch.isExpired(now: 89_999))
        #expect(watch.isExpired(now: 90_000))
    }

    @Test("A hold is no time-out, and the wait begins anew after it")
    func hold() {
        var watch = MediaWatch(now: 0, isExpecting: true)
        watch.received(now: 0)
        watch.setExpecting(false, now: 50_000)
        #expect(!watch.isExpired(now: 1_000_000))
        watch.setExpecting(true, now: 1_000_000)
        watch.setExpecting(true, now: 1_030_000)
        #expect(!watch.isExpired(now: 1_059_999))
        #expect(watch.isExpired(now: 1_060_000))
        #expect(!MediaWatch(now: 0, isExpecting: false).isExpired(now: .max))
    }
}

@Suite("SRTP keys in the SDP")
struct MediaCryptoTests {
    /// The example of RFC 4568 section 6.1.
    private let example = "inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj"

    @Test("A line is read and written")
    func roundTrip() throws {
        let crypto = try #require(MediaCrypto("7 AES_CM_128_HMAC_SHA1_80 \(example)|2^20"))
        #expect(crypto.tag == 7)
        #expect(crypto.key == Array("wDfvg&T+)xG7@fb5jU,RaA}\\|p0%*#".utf8))
        #expect(crypto.value == "7 AES_CM_128_HMAC_SHA1_80 \(example)")
        #expect(MediaCrypto("1 AES_CM_128_HMAC_SHA1_80 \(example) WSH=64")?.tag == 1)
    }

    @Test("What would change the packets in a way not known here is not taken")
    func refused() {
        let suite = "AES_CM_128_HMAC_SHA1_80"
        for value in [
            "", "1", "1 \(suite)", "x \(suite) \(example)", "-1 \(suite) \(example)",
            "1 AES_CM_128_HMAC_SHA1_32 \(example)",
            "1 \(suite) \(example)|2^20|1:4", "1 \(suite) \(example)|1:4", "1 \(suite) \(example);\(example)",
            "1 \(suite) \(example) UNENCRYPTED_SRTP", "1 \(suite) \(example) KDR=1", "1 \(suite) inline:d0Rm",
            "1 \(suite) inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSo?", "1 \(suite) uri:x",
        ] { #expect(MediaCrypto(value) == nil, "\(value)") }
    }

    @Test("Keys differ")
    func fresh() {
        #expect(MediaCrypto.fresh() != MediaCrypto.fresh())
        #expect(MediaCrypto(MediaCrypto.fresh().value) != nil)
    }

    @Test("Base64 of RFC 4648")
    func base64() {
        for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("fooba", "Zm9vYmE=")] {
            #expect(Base64.text(Array(plain.utf8)) == encoded)
            #expect(Base64.bytes(encoded[...]) == Array(plain.utf8))
        }
    }
}
