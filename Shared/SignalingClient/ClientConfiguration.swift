/// The account to log in, where to find the cluster, and the client's limits.
public struct ClientConfiguration: Sendable {
    /// The id of the app (the tenant), as `heliographctl app create` printed it: 1 to 64 visible ASCII characters.
    public var app: String
    /// The user's name within the app: 1 to 128 bytes of UTF-8 without white space.
    public var account: String
    /// The token that proves the account, `1:APP:EXPIRY:MD5`, made by the app's own server. The default,
    /// `_no_need_token`, is accepted only by apps that were created open. Source: "How to Get and Use a
    /// SignalingToken".
    public var token: String
    /// A number that is sent with the login and only recorded; default 0. The account's own number
    /// (``SignalingClient/uid``) is assigned by the cluster.
    public var uid: UInt32
    /// The kind of client, which is only recorded; default `swiftsdk`.
    public var device: String
    /// Where the client looks for gateways.
    public var source: GatewaySource
    /// The channel that will be joined, so that discovery leads the client to a gateway at which the channel's
    /// members gather: messages to it are cheaper in a large cluster then. The client may join others, too. Nil (the
    /// default) when it is not known. A client that reconnects asks for the channel that it is in. Source:
    /// `Docs/protocol.md`, "Finding a gateway".
    public var channel: String?
    /// How gateways are authenticated on TLS connections.
    public var tls: ClientTLS
    /// Deadlines and retries.
    public var timing: ClientTiming
    /// The largest number of calls that wait for their answers; default 8192. Further ones are refused with 400 or
    /// 1001, `queue_full`.
    public var callBound: Int
    /// The largest number of events that wait for the app; default 10,000. At this number the client stops reading from
    /// the gateway until the app has taken half of them. Nothing is lost, but answers to calls are delayed too.
    public var eventBound: Int

    /// Makes a configuration with the defaults for everything else.
    /// - Parameters:
    ///   - app: the id of the app.
    ///   - account: the user's name within the app.
    ///   - token: the token that proves the account; default `_no_need_token`.
    ///   - source: where the client looks for gateways.
    public init(app: String, account: String, token: String = "_no_need_token", source: GatewaySource) {
        self.app = app
        self.account = account
        self.token = token
        self.source = source
        uid = 0
        device = "swiftsdk"
        tls = ClientTLS()
        timing = ClientTiming()
        callBound = 8192
        eventBound = 10_000
    }
}

/// Where a client looks for gateways.
public enum GatewaySource: Sendable, Equatable {
    /// Base URLs that answer `GET /getaddr`, such as `https://signal.example.org`: `http` leads to plain WebSocket,
    /// `https` to TLS. They are asked one after the other, in random order, before each attempt to connect. Other URLs
    /// are ignored. Source: `Docs/protocol.md`, "Finding a gateway".
    case discovery([String])
    /// Gateways whose addresses are known; one is chosen at random.
    case addresses([GatewayEndpoint])
}

/// The address of a gateway.
public struct GatewayEndpoint: Sendable, Hashable {
    /// A host name, or an IPv4 or IPv6 address; without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// Whether the gateway speaks TLS on this port.
    public var secure: Bool

    /// Creates an endpoint.
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: the TCP port.
    ///   - secure: whether the gateway speaks TLS on this port; default false.
    public init(host: String, port: Int, secure: Bool = false) {
        self.host = host
        self.port = port
        self.secure = secure
    }
}

/// How gateways are authenticated on TLS connections.
public struct ClientTLS: Sendable, Equatable {
    /// The path of a PEM file with the certificates to trust; nil (the default) for the system's.
    public var trustRootsFile: String?
    /// The name that the gateway's certificate must contain; nil (the default) for the
    /// host or address of the connection.
    public var serverName: String?

    /// Creates TLS settings.
    public init(trustRootsFile: String? = nil, serverName: String? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
    }
}

/// Time limits and retries of a client.
public struct ClientTiming: Sendable, Equatable {
    /// How long a login is tried, retries included; default 30 s. Source: Signaling API, `login2`.
    public var loginTime = ClientDuration.seconds(30)
    /// How often a login is tried again; default 15. Source: Signaling API, `login2`.
    public var loginRetries = 15
    /// How long the client tries to resume a session whose connection was lost; default 130 s. The cluster ends such a
    /// session after at most 120 s (`_conn_timeout`), so a longer time is of no use.
    public var resumeTime = ClientDuration.seconds(130)
    /// The bound of the first pause before another attempt to connect; default 500 ms. The bound doubles with each
    /// attempt, and each pause is random below its bound.
    public var backOff = ClientDuration.milliseconds(500)
    /// The largest bound of any pause; default 10 s.
    public var backOffLimit = ClientDuration.seconds(10)
    /// The time limit of each step of an attempt: discovery, connecting, logging in; default 6 s.
    public var stepTime = ClientDuration.seconds(6)
    /// How long a call waits for its answer, reconnects included; default 30 s. It should be less than 60 s, the time
    /// for which the cluster recognises a repeated message by its id.
    public var callTime = ClientDuration.seconds(30)
    /// How long a logout waits for the gateway's answer; default 3 s. After that the client ends without it.
    public var logoutTime = ClientDuration.seconds(3)
    /// The interval of pings, which keep the connection open and show that it is alive; default 10 s.
    public var pingInterval = ClientDuration.seconds(10)
    /// How many pings in a row may go without an answer before the connection counts as dead; default 3.
    public var missedPongs = 3
    /// The number of processed messages after which they are acknowledged to the gateway; default 30. Source:
    /// `Docs/protocol.md`, "The mailbox".
    public var acknowledgeCount = 30
    /// How long a processed message may wait for its acknowledgement; default 1 s. If the app is killed, unacknowledged
    /// messages are delivered again at the next login.
    public var acknowledgeTime = ClientDuration.seconds(1)

    /// Creates a timing with the defaults.
    public init() {}
}
