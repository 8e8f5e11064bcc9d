import Testing

@testable import SIPBridgeLogic

@Suite("DTMFSender")
struct DTMFSenderTests {
    private struct Sent: Equatable {
        var packet: DTMFPacket
        var marker: Bool
        var timestamp: UInt32
        /// The frame's number, from the first one.
        var frame: Int
    }

    private struct Played {
        var sent: [Sent] = []
        var audioFrames: [Int] = []
        var finished: [Int: Int] = [:]
    }

    /// Plays frames until the sender is idle, and one more.
    private func play(_ sender: inout DTMFSender, from timestamp: UInt32 = 1000, frames: Int? = nil) -> Played {
        var played = Played()
        var frame = 0
        while frame < (frames ?? 2000) {
            let action = sender.frame(at: timestamp &+ UInt32(frame) * 160)
            switch action.frame {
            case .audio: played.audioFrames.append(frame)
            case .event(let packet, let marker, let start):
                played.sent.append(Sent(packet: packet, marker: marker, timestamp: start, frame: frame))
            }
            for id in action.finished { played.finished[id] = frame }
            frame += 1
            if frames == nil, sender.isIdle { break }
        }
        return played
    }

    @Test("The packets of one digit")
    func oneDigit() throws {
        var sender = DTMFSender()
        try sender.enqueue(try DTMFDigits("5"), id: 7)
        let played = play(&sender)
        let durations: [UInt16] = [160, 320, 480, 640, 800, 960, 960, 960]
        #expect(played.sent.map(\.packet.duration) == durations)
        #expect(played.sent.map(\.packet.isEnd) == [false, false, false, false, false, true, true, true])
        #expect(played.sent.map(\.marker) == [true] + Array(repeating: false, count: 7))
        #expect(Set(played.sent.map(\.timestamp)) == [1000])
        #expect(played.sent.map(\.frame) == Array(0..<8))
        #expect(played.sent.allSatisfy { $0.packet.event == 5 })
        // The tone ends at frame 5 and the gap of five frames at frame 10, so the next digit may begin at frame 11.
        #expect(played.audioFrames == [8, 9, 10, 11])
        #expect(played.finished == [7: 11])
    }

    @Test("For every tone length: durations rise from above 0, and the end is sent three times")
    func lengths() throws {
        for tone: UInt32 in [160, 200, 320, 961, 8000, 65_535] {
            var sender = DTMFSender(timing: DTMFTiming(tone: tone))
            try sender.enqueue(try DTMFDigits("#"), id: 1)
            let sent = play(&sender).sent
            #expect(sent.first?.marker == true)
            #expect(sent.dropFirst().allSatisfy { !$0.marker })
            #expect(sent.allSatisfy { $0.packet.duration > 0 })
            #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.packet.duration <= $1.packet.duration })
            #expect(sent.filter(\.packet.isEnd).count == 3)
            #expect(sent.suffix(3).allSatisfy { $0.packet.isEnd && $0.packet.duration >= tone })
        }
    }

    @Test("Digits are separated by a gap, each with its own time stamp")
    func gap() throws {
        var sender = DTMFSender()
        try sender.enqueue(try DTMFDigits("112"), id: 1)
        let sent = play(&sender).sent
        let starts = sent.filter(\.marker)
        #expect(starts.map(\.packet.event) == [1, 1, 2])
        // 120 ms of tone and 100 ms of gap take 11 frames.
        #expect(starts.map(\.frame) == [0, 11, 22])
        #expect(starts.map(\.timestamp) == [1000, 2760, 4520])
    }

    @Test("A comma is half a second of silence")
    func pause() throws {
        var sender = DTMFSender()
        try sender.enqueue(try DTMFDigits("1,2"), id: 1)
        let starts = play(&sender).sent.filter(\.marker)
        #expect(starts.map(\.frame) == [0, 11 + 25])
        var pauseOnly = DTMFSender()
        try pauseOnly.enqueue(try DTMFDigits(","), id: 2)
        let played = play(&pauseOnly)
        #expect(played.sent.isEmpty)
        #expect(played.finished == [2: 25])
    }

    @Test("Texts are played in turn; each completes after its own last digit")
    func texts() throws {
        var sender = DTMFSender()
        try sender.enqueue(try DTMFDigits("12"), id: 1)
        try sender.enqueue(try DTMFDigits("3"), id: 2)
        let played = play(&sender)
        #expect(played.sent.filter(\.marker).map(\.packet.event) == [1, 2, 3])
        #expect(played.finished == [1: 22, 2: 33])
    }

    @Test("The time stamp may wrap around during a digit")
    func wrap() throws {
        var sender = DTMFSender()
        try sender.enqueue(try DTMFDigits("12"), id: 1)
        let sent = play(&sender, from: .max - 200).sent
        #expect(sent.prefix(8).map(\.packet.duration) == [160, 320, 480, 640, 800, 960, 960, 960])
        #expect(sent.filter(\.marker).map(\.timestamp) == [UInt32.max - 200, 1559])
    }

    @Test("Skipped frames lengthen the tone, up to the field's maximum")
    func skippedFrames() throws {
        var sender = DTMFSender()
        try sender.enqueue(try DTMFDigits("1"), id: 1)
        _ = sender.frame(at: 0)
        let late = sender.frame(at: 160 * 20)
        #expect(
            late.frame == .event(DTMFPacket(event: 1, isEnd: true, duration: 160 * 21), marker: false, timestamp: 0))
        var stalled = DTMFSender()
        try stalled.enqueue(try DTMFDigits("1"), id: 1)
        _ = stalled.frame(at: 0)
        let end = stalled.frame(at: 160 * 2000)
        #expect(end.frame == .event(DTMFPacket(event: 1, isEnd: true, duration: 0xFFFF), marker: false, timestamp: 0))
    }

    @Test("Stopping ends the current event with three packets")
    func stop() throws {
        for frames in 1...8 {
            var sender = DTMFSender()
            try sender.enqueue(try DTMFDigits("9"), id: 1)
            try sender.enqueue(try DTMFDigits("8"), id: 2)
            let before = play(&sender, frames: frames).sent
            let rest = sender.stop()
            let ends = before.filter(\.packet.isEnd).count + rest.packets.filter(\.isEnd).count
            #expect(ends == 3)
            #expect(
                rest.packets.allSatisfy { $0.isEnd && $0.event == 9 && $0.duration >= before.last!.packet.duration })
            #expect(rest.packets.isEmpty || rest.timestamp == 1000)
            let isOut = before.contains { $0.packet.isEnd }
            #expect(rest.finished == (isOut ? [1] : []))
            #expect(rest.unfinished == (isOut ? [2] : [1, 2]))
            let isIdle = sender.isIdle
            #expect(isIdle)
            let next = sender.frame(at: 1_000_000).frame
            #expect(next == .audio)
        }
    }

    @Test("A hold ends the current digit and keeps the others")
    func hold() throws {
        var sender = DTMFSender()
        try sender.enqueue(try DTMFDigits("98"), id: 1)
        _ = play(&sender, frames: 2)
        let rest = sender.pause()
        #expect(rest.packets == Array(repeating: DTMFPacket(event: 9, isEnd: true, duration: 320), count: 3))
        #expect(rest.unfinished.isEmpty)
        let after = play(&sender, from: 500_000)
        #expect(after.sent.filter(\.marker).map(\.packet.event) == [8])
        #expect(after.finished.keys.sorted() == [1])
    }

    @Test("The queue is bounded; a text is queued whole or not at all")
    func bound() throws {
        var sender = DTMFSender()
        let long = try DTMFDigits(String(repeating: "1", count: 128))
        try sender.enqueue(long, id: 1)
        try sender.enqueue(long, id: 2)
        let one = try DTMFDigits("1")
        do {
            try sender.enqueue(one, id: 3)
            Issue.record("no bound")
        } catch { #expect(error == .full(bound: 256)) }
        let unfinished = sender.stop().unfinished
        #expect(unfinished == [1, 2])
    }
}
