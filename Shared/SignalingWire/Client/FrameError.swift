/// Why a client's frame can't be read: the connection is closed with a WebSocket code.
package struct FrameError: Error, Equatable, Sendable {
    /// A description of the error.
    package enum Kind: Equatable, Sendable {
        /// Not JSON, not UTF-8, or too deep.
        case malformed
        /// JSON, but not `[name, argument]`, or the argument has the wrong shape.
        case shape
        /// A name that clients do not send.
        case unknownName
    }

    /// A description of the error.
    package var kind: Kind
    /// A sentence for logs. It quotes nothing that the client sent.
    package var message: String

    /// Makes an error.
    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
