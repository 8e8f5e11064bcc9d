/// What a WebSocket frame is. Source: RFC 6455, section 5.2.
package enum WebSocketOpcode: UInt8, Sendable {
    /// A further fragment of a message.
    case continuation = 0x0
    /// A text message, or its first fragment.
    case text = 0x1
    /// A binary message, or its first fragment.
    case binary = 0x2
    /// The sender sends nothing more.
    case close = 0x8
    /// To be answered by a pong with the same payload.
    case ping = 0x9
    /// Answers a ping.
    case pong = 0xA

    /// Whether it stands for itself: whole, short, and allowed between a message's fragments (RFC 6455, section 5.5).
    var isControl: Bool {
        switch self {
        case .continuation, .text, .binary: false
        case .close, .ping, .pong: true
        }
    }
}
