import Testing

@testable import SIPBridgeLogic

@Suite("Payloads of telephone-event")
struct DTMFPacketTests {
    @Test("Encoded and decoded bytes")
    func golden() {
        let packet = DTMFPacket(event: 11, isEnd: true, volume: 10, duration: 0x03C0)
        #expect(packet.bytes == [0x0B, 0x8A, 0x03, 0xC0])
        #expect(DTMFPacket(packet.bytes) == packet)
        #expect(DTMFPacket(event: 5, isEnd: false, duration: 160).bytes == [0x05, 0x0A, 0x00, 0xA0])
    }

    @Test("The reserved bit and further events are ignored; fewer than four bytes are refused")
    func lenient() {
        #expect(DTMFPacket([5, 0xCA, 0, 160, 6, 10, 0, 160]) == DTMFPacket(event: 5, isEnd: true, duration: 160))
        #expect(DTMFPacket([5, 0x0A, 0]) == nil)
        #expect(DTMFPacket([UInt8]()) == nil)
    }
}
