internal import NIOCore
internal import WebSocketWire

/// A WebSocket that echoes every message, for conformance suites (`GatewayConfiguration.testEchoBytes`).
///
/// It reads and writes frames by the same code as ``ClientConnection``. Unlike a client's connection it accepts
/// binary messages, and messages up to a configured size. Used on its event loop only.
final class EchoConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let outlet: FrameOutlet
    private var reader: WebSocketFrameReader
    private var payload: [UInt8] = []
    private var isClosed = false

    /// - Parameters:
    ///   - bound: the largest message, in bytes.
    ///   - isPlain: whether the connection is without TLS.
    init(bound: Int, isPlain: Bool) {
        outlet = FrameOutlet(isPlain: isPlain, bound: .max / 4)
        reader = WebSocketFrameReader(bound: bound, takesBinary: true)
    }

    func handlerAdded(context: ChannelHandlerContext) { outlet.opened(context) }

    func channelInactive(context: ChannelHandlerContext) {
        outlet.ended()
        isClosed = true
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        var position = 0
        do {
            while !isClosed,
                let message = try reader.next(in: bytes.readableBytesSpan, from: &position, payload: &payload)
            {
                answer(message)
            }
        } catch {
            close(error.code)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ message: WebSocketFrameReader.Message) {
        switch message {
        case .text:
            // On clients' connections the parser of their frames rejects invalid UTF-8.
            guard String(validating: payload, as: UTF8.self) != nil else { return close(.inconsistentData) }
            send(.text)
        case .binary: send(.binary)
        case .ping: send(.pong)
        case .close: close(.normalClosure)
        }
    }

    private func send(_ opcode: WebSocketOpcode) {
        var frame = ByteBuffer()
        frame.writeWebSocketFrame(opcode, payload)
        outlet.send(frame)
    }

    private func close(_ code: WebSocketCloseCode) {
        isClosed = true
        var frame = ByteBuffer()
        frame.writeWebSocketFrame(.close, code.payload)
        outlet.sendLast(frame)
    }
}
