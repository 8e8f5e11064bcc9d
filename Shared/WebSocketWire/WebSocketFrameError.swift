/// Why a client's WebSocket frames cannot be read. The connection is then closed with ``code``.
package struct WebSocketFrameError: Error, Equatable, Sendable {
    /// The code to close with.
    package var code: WebSocketCloseCode
    /// The reason, for logs; contains nothing that the client sent.
    package var message: String

    /// Creates an error that closes the connection with `code`.
    package init(_ code: WebSocketCloseCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static func notAFrame(_ what: String) -> Self { Self(.protocolError, "not a WebSocket frame: \(what)") }
    static var unexpectedOpcode: Self { Self(.protocolError, "unexpected opcode") }
    static var binary: Self { Self(.unacceptableData, "binary frame") }
    static var closeCode: Self { Self(.protocolError, "close code that nobody may send") }
    static var closeReason: Self { Self(.inconsistentData, "close reason that is no UTF-8") }
    static func frameTooLarge(_ bound: Int) -> Self { Self(.messageTooLarge, "frame over \(bound) bytes") }
    static func messageTooLarge(_ bound: Int) -> Self { Self(.messageTooLarge, "message over \(bound) bytes") }
}
