internal import GatewayAPIServer
internal import GatewayLogic
internal import NIOCore
package import ServiceKit
internal import SignalingProtocol

/// The settings of a gateway process, read once at its start.
package struct GatewayConfiguration: Sendable {
    /// The address to listen on, for plain WebSocket and discovery.
    package var host = "127.0.0.1"
    /// The port of plain WebSocket; TLS, where configured, is on the next one. 0: any free port.
    package var port = 8080
    /// The IPv4 address that discovery gives to clients; nil: ``host``.
    package var publicHost: String?
    /// The port that discovery gives to clients; 0: the one listened on.
    package var publicPort = 0
    /// The TLS certificate and key; nil: no TLS.
    package var tls: TLSFiles?
    /// The number of event loops; each is a shard of its own.
    package var eventLoops = 1
    /// Whether channels' events are written by io_uring, where the kernel allows it.
    package var usesRing = true
    /// How long a channel at most pauses between two writes of messages to its members, while they take much of the
    /// event loop's time; what is published meanwhile is written together.
    package var channelPause = Duration.milliseconds(5)
    /// The most client connections of one shard; further ones are refused.
    package var connectionBound = 50_000
    /// Sockets that one shard accepts in addition to ``connectionBound``, for discovery
    /// requests and unfinished handshakes.
    var handshakeBound = 4096
    /// The most bytes that may wait for one client; past it the client, which reads too slowly, is disconnected and
    /// may resume.
    package var sendBufferBound = 1 << 20
    /// The same for a client that has not logged in.
    package var freshOutputBound = 65_536
    /// The most bytes that may wait for all clients of the process; past it those with the most waiting bytes are
    /// disconnected.
    package var outputBound = 256 << 20
    /// The limits for the clients of one IP address. Offices and mobile networks have many clients behind one address.
    var addressBounds = AddressTable.Bounds(
        connections: 5_000, connectionsPerSecond: 500, failedLoginsPerSecond: 20)
    /// Networks that the limits per address do not apply to.
    var exemptNetworks: [AddressNetwork] = []
    /// Networks of proxies; connections from them must begin with a PROXY protocol header.
    var proxyNetworks: [AddressNetwork] = []
    /// A connection on which nothing arrives for this long counts as dead and is closed (clients ping every 10 s).
    package var idleTimeout = Duration.seconds(45)
    /// A connection that has not asked to log in after this time is closed.
    package var loginTimeout = Duration.seconds(30)
    /// How long a client's request waits for a service's answer.
    package var commandTimeout = Duration.seconds(8)
    /// How long a stopping gateway goes on accepting clients, until load balancers have seen that it is not ready.
    package var lingerTime = Duration.seconds(3)
    /// The time over which a stopping gateway spreads its disconnects, so that not all its clients reconnect at once.
    package var drainTime = Duration.seconds(5)

    /// Whether a session ends when its login token expires (code 105); otherwise the
    /// token is only checked at the login.
    package var enforcesTokenExpiry = false
    /// The longest time that a message may wait for its receiver, whatever its sender asks for; whole seconds.
    package var messageTimeToLiveBound = Duration.seconds(Limits.messageTimeToLive)

    /// A PEM file with authorities that vouch for apps' servers, besides the system's.
    package var hooksAuthorityFile: String?

    /// The server API; nil: it is off.
    var api: APIConfiguration?

    /// For conformance suites only: the size in bytes up to which WebSockets echo messages. When it is not 0 nobody
    /// can log in, so it must be 0 wherever others can connect.
    package var testEchoBytes = 0

    /// The default settings.
    package init() {}

    /// Paths of the certificate and the key.
    package struct TLSFiles: Sendable {
        /// The PEM file of the certificate chain, leaf first.
        package var certificateChain: String
        /// The PEM file of the leaf certificate's private key.
        package var privateKey: String
    }
}

extension GatewayConfiguration {
    /// How long, at the end of a drain, clients are waited for whose calls are unanswered.
    static let answerPatience = Duration.seconds(1)

    /// How long the process may take to stop: a client's call may still be waiting for its answer when the drain ends.
    package var shutdownDeadline: Duration {
        let drain = lingerTime + drainTime + Self.answerPatience
        return max(ServiceRunner.shutdownDeadline, drain + commandTimeout + .seconds(2))
    }

    /// Each shard's share of ``outputBound``.
    var shardOutputBound: Int { outputBound / eventLoops }
}

extension GatewayConfiguration {
    /// Reads the environment's variables `HELIOGRAPH_GATEWAY_...`.
    package init(environment: inout EnvironmentReader) {
        self.init()
        readAddresses(&environment)
        readBounds(&environment)
        readNetworks(&environment)
        readSessions(&environment)
        hooksAuthorityFile = environment.optional(
            "GATEWAY_HOOKS_TLS_AUTHORITY",
            "PEM file of who vouches for the servers of before-hooks, besides the system's")
        api = APIConfiguration.read(&environment)
        readTestEcho(&environment)
        readTLS(&environment)
    }

    private mutating func readAddresses(_ environment: inout EnvironmentReader) {
        host = environment.string("GATEWAY_HOST", default: host, "address of the client listener")
        port = environment.int(
            "GATEWAY_PORT", default: port, in: 0...65_534, "port of plain WebSocket, 0 for any; TLS is on the next one")
        publicHost = environment.optional(
            "GATEWAY_PUBLIC_HOST", "IPv4 address that discovery tells; none: the listener's")
        publicPort = environment.int(
            "GATEWAY_PUBLIC_PORT", default: 0, in: 0...65_534, "port that discovery tells; 0: the listener's")
    }

    private mutating func readBounds(_ environment: inout EnvironmentReader) {
        eventLoops = environment.int(
            "GATEWAY_EVENT_LOOPS", default: eventLoops, in: 1...256,
            "event loops, each a shard of its own; the server API has as many besides")
        usesRing = environment.bool(
            "GATEWAY_IO_URING", default: usesRing,
            "send channels' events to many members by one system call, where the kernel allows it")
        channelPause = environment.duration(
            "GATEWAY_CHANNEL_PAUSE", default: channelPause, in: .zero ... .milliseconds(250),
            "how long a busy channel gathers messages at most, to write them to its members together; 0ms: it does not")
        connectionBound = environment.int(
            "GATEWAY_CONNECTIONS", default: connectionBound, in: 1...1_000_000, "connections per event loop at most")
        sendBufferBound = environment.int(
            "GATEWAY_SEND_BUFFER", default: sendBufferBound, in: 65_536...1 << 30,
            "bytes that may wait for a client that does not read")
        outputBound = environment.int(
            "GATEWAY_OUTPUT", default: outputBound, in: 1 << 20...1 << 40,
            "bytes that may wait for all clients of the process together")
    }

    private mutating func readNetworks(_ environment: inout EnvironmentReader) {
        addressBounds.connections = environment.int(
            "GATEWAY_ADDRESS_CONNECTIONS", default: addressBounds.connections, in: 1...1_000_000,
            "connections of one address (or IPv6 /64) at most")
        addressBounds.connectionsPerSecond = environment.int(
            "GATEWAY_ADDRESS_ARRIVALS", default: addressBounds.connectionsPerSecond, in: 1...1_000_000,
            "new connections of one address a second, after a burst of as many as it may have")
        addressBounds.failedLoginsPerSecond = environment.int(
            "GATEWAY_ADDRESS_FAILED_LOGINS", default: addressBounds.failedLoginsPerSecond, in: 1...1_000_000,
            "failed logins of one address a second, after a burst of ten times as many")
        exemptNetworks = environment.networks(
            "GATEWAY_ADDRESS_EXEMPT", default: "127.0.0.0/8,::1",
            "networks that are not counted by address, as those of proxies that do not tell their clients'")
        proxyNetworks = environment.networks(
            "GATEWAY_PROXY_FROM", default: "",
            "networks of proxies; their connections must begin with the PROXY protocol, version 1 or 2")
    }

    private mutating func readSessions(_ environment: inout EnvironmentReader) {
        enforcesTokenExpiry = environment.bool(
            "GATEWAY_ENFORCE_TOKEN_EXPIRY", default: false, "end sessions when their token expires (105)")
        messageTimeToLiveBound = environment.duration(
            "GATEWAY_MESSAGE_TTL", default: messageTimeToLiveBound,
            in: .seconds(1) ... .seconds(Limits.messageTimeToLive),
            "how long a message may wait for its receiver at most, in whole seconds")
        lingerTime = environment.duration(
            "GATEWAY_LINGER", default: lingerTime, in: .zero ... .seconds(30),
            "how long a stopping gateway accepts clients, until load balancers know")
        drainTime = environment.duration(
            "GATEWAY_DRAIN", default: drainTime, in: .zero ... .seconds(20),
            "over how long a stopping gateway spreads its clients' reconnects")
    }

    private mutating func readTestEcho(_ environment: inout EnvironmentReader) {
        testEchoBytes = environment.int(
            "GATEWAY_TEST_ECHO_BYTES", default: 0, in: 0...1 << 26,
            "tests only, on a loopback address: WebSockets echo messages of up to so many bytes; 0: they do not")
        if testEchoBytes > 0, !Self.isLoopback(host) {
            environment.reject("GATEWAY_TEST_ECHO_BYTES", "is for tests: GATEWAY_HOST must be a loopback address")
        }
    }

    private mutating func readTLS(_ environment: inout EnvironmentReader) {
        let certificate = environment.optional(
            "GATEWAY_TLS_CERTIFICATE", "PEM file of the certificate chain, leaf first")
        let key = environment.optional("GATEWAY_TLS_KEY", "PEM file of the certificate's key")
        switch (certificate, key) {
        case (let certificate?, let key?): tls = TLSFiles(certificateChain: certificate, privateKey: key)
        case (nil, nil): break
        case (.some, nil), (nil, .some):
            environment.reject("GATEWAY_TLS_CERTIFICATE", "and HELIOGRAPH_GATEWAY_TLS_KEY must be set together")
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "::1" || (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress?.hasPrefix("127.") == true
    }
}

extension EnvironmentReader {
    fileprivate mutating func networks(_ name: String, default standard: String, _ meaning: String) -> [AddressNetwork]
    {
        if let networks = AddressNetwork.list(string(name, default: standard, meaning)) { return networks }
        reject(name, "must be networks such as 10.0.0.0/8, separated by commas")
        return []
    }
}
