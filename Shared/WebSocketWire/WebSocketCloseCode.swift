/// Why the server closes a WebSocket. Source: RFC 6455, section 7.4.1, and its registry.
package enum WebSocketCloseCode: UInt16, Sendable {
    /// The conversation has ended; also the answer to the client's own close frame.
    case normalClosure = 1000
    /// The server abandons this connection.
    case goingAway = 1001
    /// The client violates the WebSocket protocol.
    case protocolError = 1002
    /// A binary message where only text is accepted.
    case unacceptableData = 1003
    /// The content of a message is invalid: not UTF-8, not JSON, or not a frame of the client protocol.
    case inconsistentData = 1007
    /// The client exceeds what it is allowed to do.
    case policyViolation = 1008
    /// A message is larger than the bound.
    case messageTooLarge = 1009
    /// The server restarts; the client may resume on another one.
    case serviceRestart = 1012

    /// The payload of a close frame with this code and no reason (RFC 6455, section 5.5.1).
    package var payload: [UInt8] { [UInt8(rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)] }

    /// Whether a peer may send a close frame with this code (RFC 6455, section 7.4, and its registry). 1004 to 1006 and
    /// 1015 are for use within programs only; the rest of 0 to 2999 is not assigned.
    static func isSendable(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
