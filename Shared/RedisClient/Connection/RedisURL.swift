internal import ClusterState
internal import SignalingProtocol

/// Where Redis is, how it is run, and with which credentials it is used.
struct RedisURL: Sendable, Equatable {
    /// What the scheme says.
    let flavour: RedisFlavour
    /// Whether connections use TLS (`rediss...`); those to Sentinels too.
    let usesTLS: Bool
    /// The server, the Sentinels, or some nodes of the cluster: 1 to ``maxAddresses``, each once.
    let addresses: [NodeAddress]
    /// The name under which Sentinels know the master; nil in other flavours.
    private(set) var masterName: String?
    /// ACL user; nil for Redis' default user.
    private(set) var user: String?
    /// Password; nil for none.
    private(set) var password: String?
    /// Database number; default 0.
    private(set) var database = 0
    /// A PEM file with the authorities that may sign the server's certificate; nil for the system's.
    private(set) var certificateAuthorityFile: String?
    /// ACL user of the Sentinels; nil for their default user.
    private(set) var sentinelUser: String?
    /// Password of the Sentinels; nil for none.
    private(set) var sentinelPassword: String?
    /// The number of the bus' partitions in a cluster.
    private(set) var partitions = BusLayout.clusterPartitions

    /// The largest number of addresses.
    static let maxAddresses = 64

    /// Parses one of
    /// - `redis://[[user]:password@]host[:port][/database]`: one server,
    /// - `redis+sentinel://[[user]:password@]host[:port],host[:port].../NAME[/database]`: the
    ///   master that these Sentinels name,
    /// - `redis+cluster://[[user]:password@]host[:port],host[:port]...`: the cluster of these nodes,
    ///
    /// or the same with `rediss` for TLS. The port is 6379, a Sentinel's 26379. User, password, name and options are
    /// percent-decoded; an IPv6 address is written in brackets. A password without a user may be written `:password@`.
    /// User and password are for the servers, not for Sentinels. Options may follow, `?NAME=VALUE&NAME=VALUE`:
    /// - `cacert`, with TLS: ``certificateAuthorityFile``,
    /// - `sentinel-user`, `sentinel-password`: of the Sentinels,
    /// - `partitions`, of a cluster: ``partitions``, 1 to ``Buckets/count``; a multiple of the number of masters.
    ///
    /// - Throws: code `URL` with the reason; the message never contains the password.
    init(_ text: String) throws(RedisError) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
            let scheme = Self.schemes[String(text[..<colon])]
        else { throw Self.invalid("its scheme is none of \(Self.schemes.keys.sorted().joined(separator: ", "))") }
        (flavour, usesTLS) = scheme
        let rest = text[colon...].dropFirst("://".count)
        // The last @ ends the credentials, because a password that was not escaped may contain one, or a slash.
        let end = rest.lastIndex(of: "@")
        if let end { (user, password) = try Self.credentials(rest[..<end]) }
        let place = end.map { rest[rest.index(after: $0)...] } ?? rest
        let queryParts = place.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let pathParts = queryParts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        addresses = try Self.addresses(pathParts[0], flavour: flavour)
        let path = pathParts.count > 1 ? pathParts[1] : ""
        switch flavour {
        case .single: database = try Self.database(path)
        case .sentinel: (masterName, database) = try Self.master(path)
        case .cluster:
            guard try Self.database(path) == 0 else { throw Self.invalid("a cluster has database 0 only") }
        }
        if queryParts.count > 1 { try readOptions(queryParts[1]) }
    }

    private static let schemes: [String: (RedisFlavour, Bool)] = [
        "redis": (.single, false), "rediss": (.single, true),
        "redis+sentinel": (.sentinel, false), "rediss+sentinel": (.sentinel, true),
        "redis+cluster": (.cluster, false), "rediss+cluster": (.cluster, true),
    ]

    static func invalid(_ why: String) -> RedisError {
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

    private static func addresses(_ text: Substring, flavour: RedisFlavour) throws(RedisError) -> [NodeAddress] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= maxAddresses else { throw invalid("it has more than \(maxAddresses) addresses") }
        if flavour == .single, parts.count > 1 {
            throw invalid("redis:// has one address")
        }
        var addresses: [NodeAddress] = []
        for part in parts {
            let address = try address(part, defaultPort: flavour == .sentinel ? 26_379 : 6379)
            guard !addresses.contains(address) else { throw invalid("an address occurs twice") }
            addresses.append(address)
        }
        return addresses
    }

    private static func address(_ text: Substring, defaultPort: Int) throws(RedisError) -> NodeAddress {
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
        guard let portText else { return NodeAddress(host: String(host), port: defaultPort) }
        guard let port = Int(portText), NodeAddress.ports.contains(port) else {
            throw invalid("the port is not 1...65535")
        }
        return NodeAddress(host: String(host), port: port)
    }

    private static func master(_ path: Substring) throws(RedisError) -> (name: String, database: Int) {
        let parts = path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = PercentEscape.unescape(String(parts[0])), !name.isEmpty else {
            throw invalid("redis+sentinel:// needs the master's name after the addresses: /NAME")
        }
        return (name, try database(parts.count > 1 ? parts[1] : ""))
    }

    private static func database(_ text: Substring) throws(RedisError) -> Int {
        if text.isEmpty { return 0 }
        guard let number = Int(text), (0...65_535).contains(number) else {
            throw invalid("the database is not a number")
        }
        return number
    }

    private mutating func readOptions(_ text: Substring) throws(RedisError) {
        var seen: Set<Substring> = []
        for option in text.split(separator: "&", omittingEmptySubsequences: false) {
            let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = PercentEscape.unescape(String(parts[1])), !value.isEmpty else {
                throw Self.invalid("an option is not NAME=VALUE")
            }
            guard seen.insert(parts[0]).inserted else { throw Self.invalid("an option occurs twice") }
            switch (parts[0], flavour) {
            case ("cacert", _):
                guard usesTLS else { throw Self.invalid("cacert requires TLS (rediss...)") }
                certificateAuthorityFile = value
            case ("sentinel-user", .sentinel): sentinelUser = value
            case ("sentinel-password", .sentinel): sentinelPassword = value
            case ("partitions", .cluster):
                guard let number = Int(value), (1...Buckets.count).contains(number) else {
                    throw Self.invalid("partitions is not 1...\(Buckets.count)")
                }
                partitions = number
            default:
                throw Self.invalid(
                    "the known options are cacert, sentinel-user, sentinel-password, and of a cluster partitions")
            }
        }
        guard sentinelUser == nil || sentinelPassword != nil else {
            throw Self.invalid("sentinel-user needs sentinel-password")
        }
    }
}
