internal import SignalingProtocol

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
    package init(url: String) throws(RedisError) {
        let rest: Substring
        if url.hasPrefix("redis://") {
            usesTLS = false
            rest = url.dropFirst("redis://".count)
        } else if url.hasPrefix("rediss://") {
            usesTLS = true
            rest = url.dropFirst("rediss://".count)
        } else {
            throw Self.invalid("it starts with neither redis:// nor rediss://")
        }
        // The last @ ends the credentials, because a password that was not escaped may contain one, or a slash.
        let end = rest.lastIndex(of: "@")
        if let end { (user, password) = try Self.credentials(rest[..<end]) }
        let place = end.map { rest[rest.index(after: $0)...] } ?? rest
        let queryParts = place.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let pathParts = queryParts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        (host, port) = try Self.address(pathParts[0])
        database = try pathParts.count > 1 ? Self.database(pathParts[1]) : 0
        if queryParts.count > 1 {
            certificateAuthorityFile = try Self.certificateAuthority(queryParts[1], usesTLS: usesTLS)
        }
    }

    private static func invalid(_ why: String) -> RedisError {
        RedisError(code: .url, message: "invalid Redis URL: \(why)")
    }

    private static func credentials(_ text: Substring) throws(RedisError) -> (String?, String?) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw invalid("the part before @ is not user:password or :password") }
        guard let user = PercentEscape.unescape(String(parts[0])),
            let password = PercentEscape.unescape(String(parts[1]))
        else {
            throw invalid("user or password is not percent-encoded UTF-8")
        }
        guard !password.isEmpty else { throw invalid("the password is empty") }
        return (user.isEmpty ? nil : user, password)
    }

    private static func address(_ text: Substring) throws(RedisError) -> (String, Int) {
        var host = text
        var portText: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw invalid("the IPv6 address has no ]") }
            host = text[text.index(after: text.startIndex)..<end]
            let after = text[text.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw invalid("the text after ] is not a port") }
            portText = after.isEmpty ? nil : after.dropFirst()
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            portText = text[text.index(after: colon)...]
        }
        guard !host.isEmpty else { throw invalid("the host is empty") }
        guard let portText else { return (String(host), 6379) }
        guard let port = Int(portText), (1...65_535).contains(port) else { throw invalid("the port is not 1...65535") }
        return (String(host), port)
    }

    private static func database(_ text: Substring) throws(RedisError) -> Int {
        if text.isEmpty { return 0 }
        guard let number = Int(text), (0...65_535).contains(number) else {
            throw invalid("the database is not a number")
        }
        return number
    }

    private static func certificateAuthority(_ query: Substring, usesTLS: Bool) throws(RedisError) -> String {
        guard query.hasPrefix("cacert="),
            let file = PercentEscape.unescape(String(query.dropFirst("cacert=".count))), !file.isEmpty
        else {
            throw invalid("the only known option is ?cacert=FILE")
        }
        guard usesTLS else { throw invalid("cacert requires rediss://") }
        return file
    }
}
