/// The kinds of WebSocket frames. Source: RFC 6455, section 5.2.
package enum WebSocketOpcode: UInt8, Sendable {
    /// A further fragment of a message.
    case continuation = 0x0
    /// A text message, or its first fragment.
    case text = 0x1
    /// A binary message, or its first fragment.
    case binary = 0x2
    /// Closes the connection: the sender sends nothing more after it.
    case close = 0x8
    /// Requests a pong with the same payload.
    case ping = 0x9
    /// Answers a ping.
    case pong = 0xA

    /// Whether this is a control frame: never fragmented, short, and allowed between a message's
    /// fragments (RFC 6455, section 5.5).
    var isControl: Bool {
        switch self {
        case .continuation, .text, .binary: false
        case .close, .ping, .pong: true
        }
    }
}
