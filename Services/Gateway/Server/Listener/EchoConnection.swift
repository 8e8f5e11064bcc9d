internal import NIOCore
internal import WebSocketWire

/// A WebSocket that sends back what it is sent, read and written in the ways of ``ClientConnection``: what conformance suites
/// can judge (`GatewayConfiguration.testEchoBytes`). Loop-bound.
///
/// It takes what the protocol of clients has no use for: binary messages, and messages as long as it is told.
final class EchoConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let outlet: FrameOutlet
    private var reader: WebSocketFrameReader
    private var payload: [UInt8] = []
    private var isClosed = false

    /// - Parameters:
    ///   - bound: bytes that a message may have.
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
            // Where there is a protocol, its parser finds this.
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
