/// Whom a client logs in, where, and within which bounds.
public struct ClientConfiguration: Sendable {
    /// The app id.
    public var app: String
    /// The user, 1...128 bytes without white space.
    public var account: String
    /// A `SignalingToken`; default `_no_need_token`, which only apps without a certificate take.
    public var token: String
    /// Sent with the login, for the record; default 0.
    public var uid: UInt32
    /// The kind of client, for the record; default `swiftsdk`.
    public var device: String
    /// Where gateways are found.
    public var source: GatewaySource
    /// How a gateway proves itself on TLS.
    public var tls: ClientTLS
    /// Deadlines and retries.
    public var timing: ClientTiming
    /// Calls that wait for their answers at most; more are refused with 400 `queue_full`. Default 8192.
    public var callBound: Int
    /// Events that wait for the app at most: beyond it the client stops reading from the gateway until the app has taken
    /// half of them. Nothing is lost, but answers to calls wait too. Default 10,000.
    public var eventBound: Int

    /// A client with the defaults.
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

/// Where gateways are found.
public enum GatewaySource: Sendable, Equatable {
    /// Base URLs that answer `GET /getaddr`: `http` leads to plain WebSocket, `https` to TLS. Tried in random order.
    case discovery([String])
    /// Known gateways.
    case addresses([GatewayEndpoint])
}

/// A gateway as a client reaches it.
public struct GatewayEndpoint: Sendable, Hashable {
    /// A name or address.
    public var host: String
    /// The port to connect to.
    public var port: Int
    /// Whether TLS is spoken there.
    public var secure: Bool

    /// Joins the three.
    public init(host: String, port: Int, secure: Bool = false) {
        self.host = host
        self.port = port
        self.secure = secure
    }
}

/// How a gateway proves itself on TLS.
public struct ClientTLS: Sendable, Equatable {
    /// A PEM file of trusted roots; nil (the default) for the system's.
    public var trustRootsFile: String?
    /// The name that the certificate must carry; nil (the default) for the host or address that was dialled.
    public var serverName: String?

    /// The defaults.
    public init(trustRootsFile: String? = nil, serverName: String? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
    }
}

/// Deadlines and retries of a client.
public struct ClientTiming: Sendable, Equatable {
    /// How long a login is tried at most; default 30 s. Source: Signaling API, `login2`.
    public var loginTime = Duration.seconds(30)
    /// How often a login is tried again at most; default 15. Source: Signaling API, `login2`.
    public var loginRetries = 15
    /// How long a lost session is tried to be resumed; default 130 s: past the longest `_conn_timeout` it is dead.
    public var resumeTime = Duration.seconds(130)
    /// The bound of the first pause before another attempt, doubled each time; the pause is random below it. Default 500 ms.
    public var backOff = Duration.milliseconds(500)
    /// The bound that the pauses grow to; default 10 s.
    public var backOffLimit = Duration.seconds(10)
    /// How long finding, connecting and logging in may take each; default 6 s.
    public var stepTime = Duration.seconds(6)
    /// How long a call waits for its answer, reconnects included; default 30 s. Below 60 s, because the cluster knows a
    /// repeated message by its id for that long.
    public var callTime = Duration.seconds(30)
    /// How long a logout waits for its answer; default 3 s.
    public var logoutTime = Duration.seconds(3)
    /// The interval of pings; default 10 s.
    public var pingInterval = Duration.seconds(10)
    /// Pings in a row without an answer that make a connection dead; default 3.
    public var missedPongs = 3
    /// Mailbox entries after which they are acknowledged; default 30. Source: wire protocol, section 12.18.
    public var acknowledgeCount = 30
    /// How long an entry waits for its acknowledgement; default 1 s.
    public var acknowledgeTime = Duration.seconds(1)

    /// The defaults.
    public init() {}
}

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
