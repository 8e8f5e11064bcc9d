internal import SignalingTokens

/// The server's answer to a client that opens a WebSocket. Source: RFC 6455, section 4.2.
package enum WebSocketHandshake {
    /// The version that clients must ask for.
    package static let version = "13"

    /// The value of `Sec-WebSocket-Accept`.
    /// - Parameter key: the value of `Sec-WebSocket-Key`.
    /// - Returns: nil when the key is not 16 bytes in base64.
    package static func accept(key: String) -> String? {
        let text = key.utf8
        guard text.count == 24, text.suffix(2).elementsEqual("==".utf8), text.dropLast(2).allSatisfy(isBase64) else {
            return nil
        }
        return ContentDigest.sha1.base64(of: key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
    }

    private static func isBase64(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
    }
}
