/// The Redis server's address and credentials, with a connection's time and size limits.
package struct RedisConfiguration: Sendable, Equatable {
    /// Host name or address.
    package var host: String
    /// TCP port; default 6379.
    package var port: Int
    /// Whether the connection uses TLS (`rediss`).
    package var usesTLS: Bool
    /// ACL user; nil for Redis' default user.
    package var user: String?
    /// Password; nil for none.
    package var password: String?
    /// Database number; default 0.
    package var database: Int
    /// A PEM file with the authorities that may sign the server's certificate; nil (default) for the system's.
    package var certificateAuthorityFile: String?
    /// The time limit of one attempt to connect, and again of the handshake after it; default 3 s each.
    package var connectTimeout: Duration = .seconds(3)
    /// The time limit of a command, including the wait for a connection; default 5 s.
    package var commandTimeout: Duration = .seconds(5)
    /// The pauses between attempts to connect.
    package var backOff = BackOff()
    /// The largest number of commands that wait for a connection or a reply; default 65,536. Further ones fail with `FULL`.
    package var maxPendingCommands = 65_536
    /// The largest total size of those commands in bytes; default 64 MiB. Further ones fail with `FULL`.
    package var maxPendingBytes = 64 << 20
    /// The largest reply in bytes; default 64 MiB. A larger one closes the connection.
    package var maxReplyBytes = 64 << 20
    /// The largest number of a subscriber's topics; default 1,000,000. Further ones fail with `FULL`.
    package var maxTopics = 1_000_000
    /// How long a subscriber receives nothing before it sends PING, and then again before it reconnects; default 5 s.
    package var subscriberIdleTimeout: Duration = .seconds(5)

    /// Parses `redis://[[user]:password@]host[:port][/database]`, or `rediss://...` for TLS, optionally followed by
    /// `?cacert=FILE` (``certificateAuthorityFile``). User, password and file are percent-decoded; an IPv6 address is
    /// written in brackets. A password without a user may be written `redis://:password@host`.
    /// - Throws: code `URL` with the reason; the message never contains the password.
    package init(url text: String) throws(RedisError) {
        guard text.hasPrefix("redis://") || text.hasPrefix("rediss://") else {
            throw RedisURL.invalid("it starts with neither redis:// nor rediss://")
        }
        let url = try RedisURL(text)
        self.init(url, url.addresses[0])
    }

    /// How to connect to one of the servers of a URL.
    init(_ url: RedisURL, _ address: NodeAddress) {
        host = address.host
        port = address.port
        usesTLS = url.usesTLS
        user = url.user
        password = url.password
        database = url.database
        certificateAuthorityFile = url.certificateAuthorityFile
    }
}
