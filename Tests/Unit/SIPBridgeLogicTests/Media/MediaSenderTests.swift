import Pacing
import TestKit
import Testing

@testable import SIPBridgeLogic

@Suite("MediaSender")
struct MediaSenderTests {
    private func isSilence(_ packet: MediaSender.Packet) -> Bool { packet.content == .silence }

    @Test("One frame of silence per 20 ms, without marker, its time stamp 160 higher")
    func silence() {
        let first = UInt32.max - 159
        var sender = MediaSender(firstTimestamp: first, now: 1000, maySend: true)
        var packets: [MediaSender.Packet] = []
        for now in stride(from: Int64(1000), to: 1200, by: 5) {
            packets += sender.tick(now: LocalTime(milliseconds: now)).packets
        }
        #expect(packets.count == 10)
        #expect(packets.allSatisfy { isSilence($0) && !$0.marker })
        #expect(packets.map(\.timestamp) == (0..<10).map { (frame: UInt32) in first &+ frame * 160 })
    }

    @Test("The media clock continues during a digit")
    func clockOverDigit() throws {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        try sender.enqueue(try DTMFDigits("1"), id: 1)
        var packets: [MediaSender.Packet] = []
        var finished: [Int] = []
        for frame in 0..<20 {
            let output = sender.tick(now: LocalTime(milliseconds: Int64(frame) * 20))
            packets += output.packets
            finished += output.finished
        }
        #expect(packets.count == 20)
        #expect(packets.prefix(8).allSatisfy { $0.timestamp == 0 && !isSilence($0) })
        #expect(packets.dropFirst(8).map(\.timestamp) == (8..<20).map { UInt32($0) * 160 })
        #expect(packets.filter(\.marker).count == 1)
        #expect(finished == [1])
    }

    @Test("A late loop catches up a few frames and skips older ones; the media clock stays right")
    func late() {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        var sent: [[UInt32]] = []
        for now: LocalTime in [0, 59, 2000, 2000, 1990] { sent.append(sender.tick(now: now).packets.map(\.timestamp)) }
        #expect(sent == [[0], [160, 320], [15_360, 15_520, 15_680, 15_840, 16_000], [], []])
    }

    @Test("On hold nothing is sent, digits wait, and the clock continues")
    func hold() throws {
        var sender = MediaSender(firstTimestamp: 0, now: 0, maySend: true)
        try sender.enqueue(try DTMFDigits("12"), id: 1)
        _ = sender.tick(now: 0)
        let flushed = sender.change(maySend: false, takesDigits: true)
        #expect(flushed.packets.count == 3)
        #expect(flushed.packets.allSatisfy { $0.timestamp == 0 && !$0.marker })
        var held = 0
        for now in stride(from: Int64(20), through: 10_000, by: 20) {
            held += sender.tick(now: LocalTime(milliseconds: now)).packets.count
        }
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

    @Test("When the peer stops accepting digits they are dropped and reported as failed")
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

    @Test("The end of the call ends the current event")
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
