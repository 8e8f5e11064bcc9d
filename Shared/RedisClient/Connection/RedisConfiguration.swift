package import ClusterState
package import Pacing

/// The Redis server's address and credentials, with a connection's time and size limits.
package struct RedisConfiguration: Sendable, Equatable {
    /// How Redis is run.
    package private(set) var flavour = RedisFlavour.single
    /// The name under which Sentinels know the master; nil without Sentinels.
    package private(set) var masterName: String?
    /// ACL user of the Sentinels; nil for their default user.
    private(set) var sentinelUser: String?
    /// Password of the Sentinels; nil for none.
    private(set) var sentinelPassword: String?
    /// The number of the bus' partitions in a cluster.
    private var partitions = BusLayout.clusterPartitions
    /// Some nodes of the cluster, or the Sentinels; none for a single server.
    private var seeds: [NodeAddress] = []
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
    /// The time limit of a command, including the wait for a connection; default 5 s. In a cluster and with Sentinels,
    /// a command that waits for its master to answer or be replaced has two fifths more.
    package var commandTimeout: Duration = .seconds(5)
    /// How many replicas must have acknowledged what a durable command (``RedisCommand/isDurable``) wrote before it is
    /// answered; 0 (default) for none. With fewer in time it fails with `UNREPLICATED`.
    package var replicas = 0
    /// The time that replicas have for it, from the server's answer; default 500 ms. A replica that is
    /// behind by more than half of this lets commands fail, since one that arrives while another is waited
    /// for is asked about only after that.
    package var replicaTimeout: Duration = .milliseconds(500)
    /// The pauses between attempts to connect.
    package var backOff = BackOff()
    /// The largest number of commands that wait for a connection or a reply; default 65,536.
    /// Further ones fail with `FULL`.
    package var maxPendingCommands = 65_536
    /// The largest total size of those commands in bytes; default 64 MiB. Further ones fail with `FULL`.
    package var maxPendingBytes = 64 << 20
    /// The largest reply in bytes; default 64 MiB. A larger one closes the connection.
    package var maxReplyBytes = 64 << 20
    /// The largest number of a subscriber's topics; default 1,000,000. Further ones fail with `FULL`.
    package var maxTopics = 1_000_000
    /// How long a subscriber receives nothing before it sends PING, and then again before it reconnects; default 5 s.
    package var subscriberIdleTimeout: Duration = .seconds(5)

    /// Parses the URL of a Redis of any flavour:
    /// - `redis://[[user]:password@]host[:port][/database]`: one server,
    /// - `redis+sentinel://[[user]:password@]host[:port],host[:port].../NAME[/database]`: the
    ///   master that these Sentinels name,
    /// - `redis+cluster://[[user]:password@]host[:port],host[:port]...`: the cluster of these nodes,
    ///
    /// or the same with `rediss` for TLS, optionally followed by options (`?cacert=FILE` with TLS,
    /// `?sentinel-password=...`, `?partitions=...`; see `RedisURL`). User, password, name and options are
    /// percent-decoded; an IPv6 address is written in brackets. A password without a user may be written `:password@`.
    /// ``host`` and ``port`` are those of the first address.
    /// - Throws: code `URL` with the reason; the message never contains the password.
    package init(url text: String) throws(RedisError) {
        let url = try RedisURL(text)
        self.init(url, url.addresses[0])
    }

    /// How to connect to one of the servers of a URL.
    init(_ url: RedisURL, _ address: NodeAddress) {
        flavour = url.flavour
        masterName = url.masterName
        sentinelUser = url.sentinelUser
        sentinelPassword = url.sentinelPassword
        partitions = url.partitions
        if url.flavour != .single { seeds = url.addresses }
        host = address.host
        port = address.port
        usesTLS = url.usesTLS
        user = url.user
        password = url.password
        database = url.database
        certificateAuthorityFile = url.certificateAuthorityFile
    }

    /// The partitions of the bus in a Redis of this flavour.
    package var bus: BusLayout { flavour == .cluster ? .cluster(partitions: partitions) : .single }

    /// Where Redis is looked for.
    package var addresses: [NodeAddress] { seeds.isEmpty ? [NodeAddress(host: host, port: port)] : seeds }
}
