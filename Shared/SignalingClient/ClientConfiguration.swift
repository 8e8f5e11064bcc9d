/// Who logs in, where, and within which bounds.
public struct ClientConfiguration: Sendable {
    /// The id of the app (the tenant), as `heliographctl app create` printed it: 1 to 64 visible ASCII characters.
    public var app: String
    /// The user's name within the app: 1 to 128 bytes of UTF-8 without white space.
    public var account: String
    /// The token that proves the account, `1:APP:EXPIRY:MD5`, made by the app's own server. Default: `_no_need_token`, which only
    /// apps accept that were created open. Source: "How to Get and Use a SignalingToken".
    public var token: String
    /// A number that is sent with the login and only recorded; default 0. Accounts get their number (``SignalingClient/uid``) from
    /// the cluster.
    public var uid: UInt32
    /// The kind of client, which is only recorded; default `swiftsdk`.
    public var device: String
    /// Where the client looks for gateways.
    public var source: GatewaySource
    /// How gateways prove themselves on TLS connections.
    public var tls: ClientTLS
    /// Deadlines and retries.
    public var timing: ClientTiming
    /// The most calls that may wait for their answers; more are refused with 400 or 1001, `queue_full`. Default 8192.
    public var callBound: Int
    /// The most events that may wait for the app: beyond it the client stops reading from the gateway until the app has taken
    /// half of them. Nothing is lost, but answers to calls wait too. Default 10,000.
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
    /// Base URLs that answer `GET /getaddr`, such as `https://signal.example.org`: `http` leads to plain WebSocket, `https` to
    /// TLS. They are asked one after the other, in random order, before each attempt to connect. URLs of other kinds are passed
    /// over. Source: wire protocol, section 1.
    case discovery([String])
    /// Gateways whose addresses are known; one is chosen at random.
    case addresses([GatewayEndpoint])
}

/// A gateway as clients reach it.
public struct GatewayEndpoint: Sendable, Hashable {
    /// A name, or an address of IPv4 or IPv6 without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// Whether the gateway speaks TLS on this port.
    public var secure: Bool

    /// Makes an endpoint.
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: the TCP port.
    ///   - secure: whether the gateway speaks TLS on this port; default false.
    public init(host: String, port: Int, secure: Bool = false) {
        self.host = host
        self.port = port
        self.secure = secure
    }
}

/// How gateways prove themselves on TLS connections.
public struct ClientTLS: Sendable, Equatable {
    /// The path of a PEM file with the certificates to trust; nil (the default) for the system's.
    public var trustRootsFile: String?
    /// The name that the gateway's certificate must carry; nil (the default) for the host or address that is connected to.
    public var serverName: String?

    /// Makes a setting; both parts are the system's defaults unless given.
    public init(trustRootsFile: String? = nil, serverName: String? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
    }
}

/// Deadlines and retries of a client.
public struct ClientTiming: Sendable, Equatable {
    /// How long a login is tried, retries included; default 30 s. Source: Signaling API, `login2`.
    public var loginTime = ClientDuration.seconds(30)
    /// How often a login is tried again; default 15. Source: Signaling API, `login2`.
    public var loginRetries = 15
    /// How long the client tries to resume a session whose connection was lost; default 130 s. The cluster ends a session after
    /// 120 s at most (`_conn_timeout`), so that more is of no use.
    public var resumeTime = ClientDuration.seconds(130)
    /// The longest first pause before another attempt to connect; default 500 ms. The bound doubles with each attempt, and each
    /// pause is random below its bound.
    public var backOff = ClientDuration.milliseconds(500)
    /// What the bound of the pauses grows to; default 10 s.
    public var backOffLimit = ClientDuration.seconds(10)
    /// How long each step of an attempt may take: discovery, connecting, logging in; default 6 s.
    public var stepTime = ClientDuration.seconds(6)
    /// How long a call waits for its answer, reconnects included; default 30 s. To be kept below 60 s: for that long the cluster
    /// recognises a message that is sent again by its id.
    public var callTime = ClientDuration.seconds(30)
    /// How long a logout waits for the gateway's answer before the client ends without it; default 3 s.
    public var logoutTime = ClientDuration.seconds(3)
    /// The interval of pings, which keep the connection open and show that it is alive; default 10 s.
    public var pingInterval = ClientDuration.seconds(10)
    /// How many pings in a row may go without an answer before the connection counts as dead; default 3.
    public var missedPongs = 3
    /// How many messages may be processed before they are acknowledged to the gateway; default 30. Source: wire protocol, section
    /// 12.18.
    public var acknowledgeCount = 30
    /// How long a processed message may wait for its acknowledgement; default 1 s. What was not acknowledged when the app is
    /// killed comes again at the next login.
    public var acknowledgeTime = ClientDuration.seconds(1)

    /// Makes a timing with the defaults.
    public init() {}
}
