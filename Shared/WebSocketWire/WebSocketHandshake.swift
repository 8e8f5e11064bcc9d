internal import SignalingProtocol
internal import SignalingTokens

/// The server's answer to a client's WebSocket handshake. Source: RFC 6455, section 4.2.
package enum WebSocketHandshake {
    /// The protocol version that clients must request.
    package static let version = "13"

    /// The value of `Sec-WebSocket-Accept`.
    /// - Parameter key: the value of `Sec-WebSocket-Key`.
    /// - Returns: nil when the key is not 16 bytes in base64.
    package static func accept(key: String) -> String? {
        guard key.utf8.count == 24, key.hasSuffix("=="), Base64.bytes(key[...])?.count == 16 else { return nil }
        return ContentDigest.sha1.base64(of: key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
    }
}
