internal import GatewayLogic
package import NIOCore
package import ServiceKit
internal import SignalingProtocol

/// What a gateway process is told at its start.
package struct GatewayConfiguration: Sendable {
    /// Where clients connect: plain WebSocket and discovery.
    package var host = "127.0.0.1"
    /// The port of plain WebSocket; TLS, where configured, is on the next one. 0 takes a free port (and no TLS).
    package var port = 8080
    /// The IPv4 address that discovery tells clients; default the host.
    package var publicHost: String?
    /// The port that discovery tells clients; 0: the port listened on.
    package var publicPort = 0
    /// PEM files of the TLS certificate chain and its key.
    package var tls: TLSFiles?
    /// Event loops, each a shard of its own.
    package var eventLoops = 1
    /// Connections of one shard at most; further ones are refused.
    package var connectionBound = 50_000
    /// Sockets of one shard, beyond those that WebSockets may be, that ask for discovery or are about to become one.
    var handshakeBound = 4096
    /// Bytes that may wait for a client that does not read; past it the client is cut off and may resume.
    package var sendBufferBound = 1 << 20
    /// The same before a login.
    package var freshOutputBound = 65_536
    /// Bytes that may wait for all clients of the process; past it those with most are cut off.
    package var outputBound = 256 << 20
    /// What the clients of one address may do. Offices and mobile networks have many clients behind one.
    var addressBounds = AddressTable.Bounds(
        connections: 5_000, connectionsPerSecond: 500, failedLoginsPerSecond: 20)
    /// Networks whose clients are not counted by address.
    var exemptNetworks: [AddressNetwork] = []
    /// Networks of proxies, whose connections begin with the PROXY protocol.
    var proxyNetworks: [AddressNetwork] = []
    /// A connection that is silent for longer is dead (clients ping every 10 s).
    package var idleTimeout = TimeAmount.seconds(45)
    /// A connection that has not asked to log in by then is closed.
    package var loginTimeout = TimeAmount.seconds(30)
    /// What a client waits for a service at most.
    package var commandTimeout = TimeAmount.seconds(8)
    /// Over how long a stopping gateway spreads its clients' reconnects.
    package var drainTime = TimeAmount.seconds(5)

    /// Whether a session ends with its login's token (code 105); otherwise a token is for logging in only.
    package var enforcesTokenExpiry = false
    /// Seconds a message may wait for its receiver at most, whatever its sender asks for.
    package var messageTimeToLiveBound = Limits.messageTimeToLive

    /// For conformance suites: WebSockets send back what they are sent, messages up to so many bytes, and nobody can log in;
    /// 0, as it must be where anybody else can connect: no echo.
    package var testEchoBytes = 0

    /// The defaults.
    package init() {}

    /// Certificate and key.
    package struct TLSFiles: Sendable {
        /// PEM, leaf first.
        package var certificateChain: String
        /// PEM.
        package var privateKey: String
    }
}

extension GatewayConfiguration {
    /// Each shard's part of ``outputBound``.
    var shardOutputBound: Int { outputBound / eventLoops }
}

extension GatewayConfiguration {
    /// Reads `HELIOGRAPH_GATEWAY_...`.
    package init(environment: inout EnvironmentReader) {
        self.init()
        host = environment.string("GATEWAY_HOST", default: host, "address of the client listener")
        port = environment.int(
            "GATEWAY_PORT", default: port, in: 0...65_534, "port of plain WebSocket, 0 for any; TLS is on the next one")
        publicHost = environment.optional(
            "GATEWAY_PUBLIC_HOST", "IPv4 address that discovery tells; none: the listener's")
        publicPort = environment.int(
            "GATEWAY_PUBLIC_PORT", default: 0, in: 0...65_534, "port that discovery tells; 0: the listener's")
        eventLoops = environment.int(
            "GATEWAY_EVENT_LOOPS", default: eventLoops, in: 1...256, "event loops, each a shard of its own")
        connectionBound = environment.int(
            "GATEWAY_CONNECTIONS", default: connectionBound, in: 1...1_000_000, "connections per event loop at most")
        sendBufferBound = environment.int(
            "GATEWAY_SEND_BUFFER", default: sendBufferBound, in: 65_536...1 << 30,
            "bytes that may wait for a client that does not read")
        outputBound = environment.int(
            "GATEWAY_OUTPUT", default: outputBound, in: 1 << 20...1 << 40,
            "bytes that may wait for all clients of the process together")
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
        enforcesTokenExpiry = environment.bool(
            "GATEWAY_ENFORCE_TOKEN_EXPIRY", default: false, "end sessions when their token expires (105)")
        messageTimeToLiveBound = environment.int(
            "GATEWAY_MESSAGE_TTL", default: messageTimeToLiveBound, in: 1...Limits.messageTimeToLive,
            "seconds a message may wait for its receiver at most")
        let drain = environment.duration(
            "GATEWAY_DRAIN", default: .seconds(5), in: .zero ... .seconds(20),
            "over how long a stopping gateway spreads its clients' reconnects")
        drainTime = .seconds(drain.components.seconds)
        testEchoBytes = environment.int(
            "GATEWAY_TEST_ECHO_BYTES", default: 0, in: 0...1 << 26,
            "tests only, on a loopback address: WebSockets echo messages of up to so many bytes; 0: they do not")
        if testEchoBytes > 0, !Self.isLoopback(host) {
            environment.reject("GATEWAY_TEST_ECHO_BYTES", "is for tests: GATEWAY_HOST must be a loopback address")
        }
        let certificate = environment.optional(
            "GATEWAY_TLS_CERTIFICATE", "PEM file of the certificate chain, leaf first")
        let key = environment.optional("GATEWAY_TLS_KEY", "PEM file of the certificate's key")
        switch (certificate, key) {
        case (let certificate?, let key?): tls = TLSFiles(certificateChain: certificate, privateKey: key)
        case (nil, nil): break
        case (.some, nil), (nil, .some):
            environment.reject("GATEWAY_TLS_CERTIFICATE", "and HELIOGRAPH_GATEWAY_TLS_KEY go together")
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
