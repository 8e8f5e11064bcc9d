/// Why the server closes a WebSocket. Source: RFC 6455, section 7.4.1, and its registry.
package enum WebSocketCloseCode: UInt16, Sendable {
    /// All is said; also the answer to the client's own close frame.
    case normalClosure = 1000
    /// The server does without this connection.
    case goingAway = 1001
    /// What came is not WebSocket.
    case protocolError = 1002
    /// A binary message.
    case unacceptableData = 1003
    /// A message that does not fit its kind: not UTF-8, not JSON, none of the protocol's frames.
    case inconsistentData = 1007
    /// More than a client may ask for.
    case policyViolation = 1008
    /// A message over the bound.
    case messageTooLarge = 1009
    /// The server restarts; the client may resume elsewhere.
    case serviceRestart = 1012

    /// The payload of a close frame that gives the code and no reason (RFC 6455, section 5.5.1).
    package var payload: [UInt8] { [UInt8(rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)] }

    /// Whether a peer may send a close frame with this code (RFC 6455, section 7.4, and its registry): those of 1004 to 1006
    /// and 1015 stand for something else in programs, the others are not given out.
    static func isSendable(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
