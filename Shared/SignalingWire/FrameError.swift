/// Why a client's frame can't be read: the connection is closed with a WebSocket code.
public struct FrameError: Error, Equatable, Sendable {
    /// What is wrong.
    public enum Kind: Equatable, Sendable {
        /// Not JSON, not UTF-8, or too deep.
        case malformed
        /// JSON, but not `[name, argument]`, or the argument has the wrong shape.
        case shape
        /// A name that clients do not send.
        case unknownName
    }

    /// What is wrong.
    public var kind: Kind
    /// For logs; holds nothing of what the client sent.
    public var message: String

    /// Makes an error.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
