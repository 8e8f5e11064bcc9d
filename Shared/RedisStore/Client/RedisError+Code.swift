extension RedisError {
    /// What kind of failure it was. The server has more codes than are named here.
    package struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The first word of the server's error, or the name of a failure of this library.
        package let rawValue: String

        /// Takes any word.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The word.
        package var description: String { rawValue }
    }
}

/// Codes of failures that this library finds itself.
extension RedisError.Code {
    /// The connection broke after the command was written: its outcome is unknown.
    package static let closed = Self(rawValue: "CLOSED")
    /// No answer, or never written, within the command timeout.
    package static let timeout = Self(rawValue: "TIMEOUT")
    /// A named bound was hit; nothing was sent.
    package static let full = Self(rawValue: "FULL")
    /// The configured URL cannot be used.
    package static let url = Self(rawValue: "URL")
    /// TLS cannot be set up.
    package static let tls = Self(rawValue: "TLS")
    /// The server's bytes are not RESP, or a reply is larger than its bound.
    package static let malformed = Self(rawValue: "PROTOCOL")
    /// An answer is not what the caller expects.
    package static let shape = Self(rawValue: "SHAPE")
    /// Another process has taken an exclusive round over.
    package static let lost = Self(rawValue: "LOST")
}

/// Codes of the server's errors that the cluster acts on.
extension RedisError.Code {
    /// A Function of ours refused: `SIG <code> <reason> <text>`.
    package static let signaling = Self(rawValue: "SIG")
    /// Most errors of the server.
    package static let generic = Self(rawValue: "ERR")
    /// Refused at `maxmemory`.
    package static let outOfMemory = Self(rawValue: "OOM")
    /// The stream or its consumer group is not there.
    package static let noGroup = Self(rawValue: "NOGROUP")
    /// The consumer group is there already.
    package static let busyGroup = Self(rawValue: "BUSYGROUP")
    /// A blocking read was ended, because its stream was deleted.
    package static let unblocked = Self(rawValue: "UNBLOCKED")
}
