import Testing

@testable import SIPBridgeLogic

@Suite("DTMFReceiver")
struct DTMFReceiverTests {
    private struct Packet {
        var event: UInt8
        var timestamp: UInt32
        var duration: UInt16
        var isEnd = false
        var source: UInt32 = 1
    }

    /// The packets that a sender sends for one key press.
    private func press(
        _ event: UInt8, at timestamp: UInt32, firstDuration: UInt16 = 160, source: UInt32 = 1
    ) -> [Packet] {
        let updates = (0..<6).map {
            Packet(event: event, timestamp: timestamp, duration: firstDuration + UInt16($0) * 160, source: source)
        }
        let end = Packet(event: event, timestamp: timestamp, duration: 1120, isEnd: true, source: source)
        return updates + [end, end, end]
    }

    private func hear(_ packets: [Packet]) -> String {
        var receiver = DTMFReceiver()
        return hear(packets, &receiver)
    }

    private func hear(_ packets: [Packet], _ receiver: inout DTMFReceiver) -> String {
        String(
            packets.compactMap {
                receiver.receive(
                    DTMFPacket(event: $0.event, isEnd: $0.isEnd, duration: $0.duration), source: $0.source,
                    timestamp: $0.timestamp)?.character
            })
    }

    @Test("Each key is heard once")
    func all() {
        let packets = (0..<16).flatMap { press(UInt8($0), at: UInt32($0) * 3000) }
        #expect(hear(packets) == "0123456789*#ABCD")
    }

    @Test("The same key pressed twice is two digits")
    func twice() {
        #expect(hear(press(5, at: 0) + press(5, at: 1760)) == "55")
    }

    @Test("Any single packet of a press is enough")
    func losses() {
        let packets = press(7, at: 100)
        for kept in packets.indices { #expect(hear([packets[kept]]) == "7") }
        for lost in packets.indices { #expect(hear(Array(packets[..<lost] + packets[(lost + 1)...])) == "7") }
        #expect(hear(Array(packets.dropLast(3)) + press(7, at: 1860)) == "77")
    }

    @Test("Duplicated and reordered packets of a press are one digit")
    func repeatedAndReordered() {
        let packets = press(1, at: 100)
        #expect(hear(packets.flatMap { [$0, $0] }) == "1")
        #expect(hear(packets.reversed()) == "1")
    }

    @Test("Late packets of an earlier press are not new digits")
    func stragglers() {
        let first = press(1, at: 0)
        let second = press(2, at: 1760)
        let third = press(1, at: 3520)
        var packets = Array(first.dropLast(2))
        packets += second.prefix(3)
        packets += first.suffix(1)
        packets += second.suffix(6)
        packets += third
        packets += first.suffix(1)
        packets += second.suffix(1)
        #expect(hear(packets) == "121")
    }

    @Test("A first packet of duration 0, and a press of which only ends arrive, are digits")
    func odd() {
        #expect(hear(press(4, at: 9, firstDuration: 0)) == "4")
        #expect(hear([Packet(event: 4, timestamp: 9, duration: 0, isEnd: true)]) == "4")
    }

    @Test("Another event or another source with the same time stamp is another digit")
    func keys() {
        #expect(hear(press(1, at: 50) + press(2, at: 50)) == "12")
        #expect(hear(press(1, at: 50) + press(1, at: 50, source: 2)) == "11")
    }

    @Test("Events above 15 are ignored")
    func noDigits() {
        #expect(hear((16...255).map { Packet(event: UInt8($0), timestamp: UInt32($0) * 2000, duration: 160) }) == "")
    }

    @Test("A press over 8.19 s, over several segments with losses, is one digit", arguments: [65_535, 65_440, 65_536])
    func longPress(segment: UInt32) {
        // A press of 20 s during which the time stamp wraps around.
        let start = UInt32.max - 70_000
        var packets: [Packet] = []
        for elapsed in stride(from: UInt32(160), through: 160_000, by: 160) {
            let index = (elapsed - 1) / segment
            packets.append(
                Packet(
                    event: 3, timestamp: start &+ index * segment,
                    duration: UInt16(min(elapsed - index * segment, 65_535))))
        }
        let last = packets[packets.count - 1]
        let end = Packet(event: 3, timestamp: last.timestamp, duration: last.duration, isEnd: true)
        packets += [end, end, end]
        #expect(Set(packets.map(\.timestamp)).count == 3)
        #expect(hear(packets) == "3")
        #expect(hear(packets.enumerated().filter { $0.offset % 7 == 0 }.map(\.element)) == "3")
        // A later press of the same key is a digit of its own.
        #expect(hear(packets + press(3, at: last.timestamp &+ 30_000)) == "33")
    }

    @Test("The same key again after 8.19 s is a new digit, even if the first one's end was lost")
    func sameKeyLater() {
        #expect(hear(press(3, at: 0) + press(3, at: 65_535)) == "33")
        #expect(hear(Array(press(3, at: 0).dropLast(3)) + press(3, at: 65_535)) == "33")
    }

    @Test("A press whose duration stays at the maximum is one digit")
    func saturated() {
        let packets = stride(from: UInt32(160), through: 160_000, by: 160).map {
            Packet(event: 3, timestamp: 5, duration: UInt16(min($0, 65_535)))
        }
        #expect(hear(packets) == "3")
    }

    @Test("The memory of earlier presses is bounded, yet covers any late packet")
    func bound() {
        var receiver = DTMFReceiver()
        let many = (0..<1000).map { Packet(event: UInt8($0 % 16), timestamp: UInt32($0) * 800, duration: 160) }
        #expect(hear(many, &receiver).count == 1000)
        #expect(hear(Array(many.suffix(DTMFReceiver.maxRemembered)), &receiver) == "")
    }
}
