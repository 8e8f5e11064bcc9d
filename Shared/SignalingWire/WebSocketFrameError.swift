internal import SignalingProtocol

/// Why a client's WebSocket frames cannot be read: the connection is closed with ``code``.
public struct WebSocketFrameError: Error, Equatable, Sendable {
    /// The code to close with.
    public var code: WebSocketCloseCode
    /// For logs; holds nothing of what the client sent.
    public var message: String

    /// Makes an error.
    public init(_ code: WebSocketCloseCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static func notAFrame(_ what: String) -> Self { Self(.protocolError, "not a WebSocket frame: \(what)") }
    static var unexpectedOpcode: Self { Self(.protocolError, "unexpected opcode") }
    static var binary: Self { Self(.unacceptableData, "binary frame") }
    static var frameTooLarge: Self { Self(.messageTooLarge, "frame over \(Limits.frameBytes) bytes") }
    static var messageTooLarge: Self { Self(.messageTooLarge, "message over \(Limits.frameBytes) bytes") }
}
