import NIOCore
import NIOWebSocket
import Testing

@testable import GatewayServer

@Suite struct WebSocketFrameTests {
    @Test(arguments: [[0x37, 0xFA, 0x21, 0x3D], [0, 0, 0, 0], [0xFF, 0, 0x80, 1]] as [[UInt8]])
    func unmaskingIsNIOs(key: [UInt8]) throws {
        let mask = try #require(WebSocketMaskingKey(key))
        for length in 0..<40 {
            // Not at the beginning of its storage.
            var data = ByteBuffer(bytes: (0..<(length + 3)).map { UInt8(truncatingIfNeeded: $0 &* 37) })
            data.moveReaderIndex(forwardBy: 3)
            let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: mask, data: data)
            var text = ByteBuffer(string: "before ")
            text.writeUnmasked(frame)
            #expect(text.readString(length: 7) == "before ")
            #expect(text == frame.unmaskedData)
        }
    }

    @Test func framesOfServersHaveNoMask() {
        var text = ByteBuffer()
        text.writeUnmasked(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: "hello")))
        #expect(String(buffer: text) == "hello")
    }
}
