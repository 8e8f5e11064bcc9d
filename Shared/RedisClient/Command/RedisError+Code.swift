extension RedisError {
    /// The kind of failure. The server has more codes than those named here.
    package struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The first word of the server's error reply, or the name of a failure that this library detects.
        package let rawValue: String

        /// Accepts any word.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The word.
        package var description: String { rawValue }
    }
}

/// Failures that this library detects.
extension RedisError.Code {
    /// The connection broke after the command was written: its outcome is unknown.
    package static let closed = Self(rawValue: "CLOSED")
    /// The connection broke before the command was written. Only between a ``RedisClient`` and its nodes.
    static let unsent = Self(rawValue: "UNSENT")
    /// The command names no slot, but Redis is a cluster.
    package static let slot = Self(rawValue: "SLOT")
    /// The server is not run as the URL says, or must not be used for another reason that time does not cure.
    package static let flavour = Self(rawValue: "FLAVOUR")
    /// Not written or not answered within the command timeout.
    package static let timeout = Self(rawValue: "TIMEOUT")
    /// The server has done the command, but too few replicas have acknowledged it in time: if the server is lost, so
    /// may be what the command wrote.
    package static let unreplicated = Self(rawValue: "UNREPLICATED")
    /// A size limit was reached; nothing was sent.
    package static let full = Self(rawValue: "FULL")
    /// The configured URL is invalid.
    package static let url = Self(rawValue: "URL")
    /// TLS cannot be set up.
    package static let tls = Self(rawValue: "TLS")
    /// The server's bytes are not RESP, or a reply exceeds the size limit.
    package static let malformed = Self(rawValue: "PROTOCOL")
    /// A reply does not have the expected shape.
    package static let shape = Self(rawValue: "SHAPE")
}

/// Error codes of the server that the cluster handles specially.
extension RedisError.Code {
    /// The server's general error code.
    package static let generic = Self(rawValue: "ERR")
    /// The command was refused because Redis is at `maxmemory`.
    package static let outOfMemory = Self(rawValue: "OOM")
    /// The stream or its consumer group does not exist.
    package static let noGroup = Self(rawValue: "NOGROUP")
    /// The consumer group exists already.
    package static let busyGroup = Self(rawValue: "BUSYGROUP")
    /// A blocking read was ended because its stream was deleted.
    package static let unblocked = Self(rawValue: "UNBLOCKED")
}
