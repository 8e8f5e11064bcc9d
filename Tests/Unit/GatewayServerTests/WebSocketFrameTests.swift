import BusProtocol
import NIOCore
import Testing
import WebSocketWire

@testable import GatewayServer

@Suite struct WebSocketFrameTests {
    private func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.writeWebSocketFrame(opcode, payload)
        return Array(buffer.readableBytesView)
    }

    @Test func framesOfServersHaveNoMask() {
        #expect(frame(.text, Array("hello".utf8)) == [0x81, 5] + Array("hello".utf8))
        #expect(frame(.pong, []) == [0x8A, 0])
        #expect(frame(.close, WebSocketCloseCode.serviceRestart.payload) == [0x88, 2, 0x03, 0xF4])
    }

    @Test(
        arguments: [
            (125, [125]), (126, [126, 0, 126]), (65_535, [126, 0xFF, 0xFF]), (65_536, [127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func lengthsAreAsShortAsTheyCanBe(length: Int, header: [UInt8]) {
        let payload = [UInt8](repeating: 65, count: length)
        #expect(frame(.text, payload) == [0x81] + header + payload)
    }
}
